import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, Reflector } from '@nestjs/core';
import { AgentToolsController } from './agents/agent-tools.controller.js';
import { AgentToolsService } from './agents/agent-tools.service.js';
import { AgentsController } from './agents/agents.controller.js';
import { AgentsService } from './agents/agents.service.js';
import { ChangeFeed, FEED_DEFAULTS } from './changes/change-feed.js';
import { ChangeStreams, STREAM_DEFAULTS } from './changes/change-streams.js';
import { ChangesController } from './changes/changes.controller.js';
import { PrismaChangeStore } from './changes/prisma-change.store.js';
import { ConversationReader } from './conversations/conversation-reader.js';
import { ConversationStates } from './conversations/conversation-states.js';
import { ConversationStore } from './conversations/conversation.store.js';
import { ConversationsController } from './conversations/conversations.controller.js';
import { ConversationsService } from './conversations/conversations.service.js';
import { PrismaConversationStore } from './conversations/prisma-conversation.store.js';
import { AnswerMemo } from './decision/answer-memo.js';
import { Answers } from './decision/answers.js';
import { AnswerStore, NoAnswerStore } from './decision/answer.store.js';
import { ColdAnswers } from './decision/cold-answers.js';
import { DecisionLog } from './decision/decision-log.js';
import { DecisionController } from './decision/decision.controller.js';
import { DecisionService } from './decision/decision.service.js';
import { ExplainController } from './decision/explain.controller.js';
import { ExplainService } from './decision/explain.service.js';
import { Grounds } from './decision/grounds.js';
import { OutcomeMemo } from './decision/outcome-memo.js';
import { PreviewController } from './decision/preview.controller.js';
import { PreviewService } from './decision/preview.service.js';
import { RedisAnswerStore } from './decision/redis-answer.store.js';
import { RequestReader } from './decision/request-reader.js';
import { SharedAnswering } from './decision/shared-answering.js';
import { SearchController } from './decision/search.controller.js';
import { SearchService } from './decision/search.service.js';
import { Engines } from './engines/engines.js';
import { LibraryEngines } from './engines/library-engines.js';
import { GovernanceStore } from './governance/governance.store.js';
import { PrismaGovernanceStore } from './governance/prisma-governance.store.js';
import { HistoryController } from './history/history.controller.js';
import { HistoryService } from './history/history.service.js';
import { HistoryStore } from './history/history.store.js';
import { PrismaHistoryStore } from './history/prisma-history.store.js';
import { Reverter } from './history/reverter.js';
import { invalidationProviders } from './invalidation/invalidation.module.js';
import { RevisionLoader } from './invalidation/revision.loader.js';
import type { Config } from './platform/config/config.js';
import { LIMITS } from './platform/config/limits.token.js';
import type { OidcConfig } from './platform/config/oidc.js';
import { Database } from './platform/database/database.js';
import type { DatabaseLooks } from './platform/database/looks.js';
import { Problems } from './platform/errors/problems.js';
import { BoundConcurrency } from './platform/http/overload.js';
import { ProblemFilter } from './platform/http/problem.filter.js';
import { StrictValidationPipe } from './platform/http/strict-validation.pipe.js';
import { HealthController } from './platform/observability/health.controller.js';
import type { Logger } from './platform/observability/logger.js';
import { Metrics } from './platform/observability/metrics.js';
import { NO_TRACING, Tracing } from './platform/observability/tracing.js';
import { Readiness } from './platform/observability/readiness.js';
import type { SharedRedis } from './platform/redis/redis.js';
import { Sweeper } from './platform/retention/sweeper.js';
import { compilingConditions } from './policy/compiling-conditions.js';
import { Impacts } from './policy/impacts.js';
import { PolicyLoader } from './policy/policy.loader.js';
import { PolicyViews } from './policy/policy-views.js';
import { Subjects } from './policy/subjects.js';
import { PrismaPolicyLoader } from './policy/prisma-policy.loader.js';
import { DiagnosticController } from './registry/diagnostic.controller.js';
import { DiagnosticService } from './registry/diagnostic.service.js';
import { LoadingRegistryController } from './registry/loading-registry.controller.js';
import { SyncService } from './registry/sync.service.js';
import { ToolImpactController } from './registry/tool-impact.controller.js';
import { ToolImpactService } from './registry/tool-impact.service.js';
import { ToolsController } from './registry/tools.controller.js';
import { ToolsService } from './registry/tools.service.js';
import { ToolsetsController } from './registry/toolsets.controller.js';
import { LexicalRanker } from './search/lexical-ranker.js';
import { ToolRanker } from './search/tool-ranker.js';
import { AccessWatch, WATCH_DEFAULTS } from './tenancy/access-watch.js';
import { AccessGuard } from './tenancy/access.guard.js';
import { Authenticator } from './tenancy/authenticator.js';
import { Issuer } from './tenancy/issuer.js';
import { KeyStore } from './tenancy/key.store.js';
import { KeysController } from './tenancy/keys.controller.js';
import { KeysService } from './tenancy/keys.service.js';
import { KnownTenants } from './tenancy/known-tenants.js';
import { People } from './tenancy/people.js';
import { PrismaKeyStore } from './tenancy/prisma-key.store.js';
import { PrismaTenantStore } from './tenancy/prisma-tenant.store.js';
import { NoRateStore } from './tenancy/rate.store.js';
import { RateLimits, WINDOW_S } from './tenancy/rate-limits.js';
import { RedisRateStore } from './tenancy/redis-rate.store.js';
import { SettingsImpactController } from './tenancy/settings-impact.controller.js';
import { SettingsImpactService } from './tenancy/settings-impact.service.js';
import { SettingsController } from './tenancy/settings.controller.js';
import { SettingsService } from './tenancy/settings.service.js';
import { SigningKeys } from './tenancy/signing-keys.js';
import { TenantStore } from './tenancy/tenant.store.js';
import { TenantsController } from './tenancy/tenants.controller.js';
import { TenantsService } from './tenancy/tenants.service.js';

/** What the process brings along. */
export interface AppParts {
  readonly config: Config;
  readonly platformKey: string;
  readonly database: Database;
  /** For the looks of the revision watch. */
  readonly looks: DatabaseLooks;
  /** Left out where there is none. */
  readonly redis?: SharedRedis;
  /** Of the program, for what builds must not share. */
  readonly build?: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Left out where no collector is named. */
  readonly tracing?: Tracing;
}

/** The one composition root: nothing else names an adapter. */
@Module({})
export class AppModule {
  static with({ config, platformKey, database, looks, redis, build = '', logger, metrics, tracing = NO_TRACING }: AppParts, problems: Problems): DynamicModule {
    const { limits, maxStalenessMs } = config;
    return {
      module: AppModule,
      controllers: [HealthController, TenantsController, KeysController, SettingsController, ToolsController, DiagnosticController, ToolsetsController, LoadingRegistryController, AgentsController, AgentToolsController, DecisionController, PreviewController, ExplainController, ToolImpactController, SettingsImpactController, ConversationsController, SearchController, HistoryController, ChangesController],
      providers: [
        { provide: LIMITS, useValue: limits },
        { provide: Database, useValue: database },
        { provide: Metrics, useValue: metrics },
        { provide: Tracing, useValue: tracing },
        { provide: DecisionLog, useValue: new DecisionLog(logger, metrics, config.decisionLog) },
        { provide: Problems, useValue: problems },
        { provide: Readiness, useValue: new Readiness(database, metrics, maxStalenessMs, redis ?? null) },
        { provide: Engines, useClass: LibraryEngines },
        { provide: ToolRanker, useClass: LexicalRanker },
        { provide: RequestReader, useValue: new RequestReader(limits) },
        { provide: ConversationReader, useValue: new ConversationReader(limits) },
        { provide: ConversationStore, useValue: new PrismaConversationStore(database) },
        { provide: ConversationStates, useFactory: (store: ConversationStore) => new ConversationStates(store, maxStalenessMs), inject: [ConversationStore] },
        { provide: HistoryStore, useValue: new PrismaHistoryStore(database) },
        { provide: ChangeFeed, useFactory: (revisions: RevisionLoader) => new ChangeFeed(new PrismaChangeStore(database), revisions, metrics, { ...FEED_DEFAULTS, maxStalenessMs }), inject: [RevisionLoader] },
        { provide: ChangeStreams, useFactory: (feed: ChangeFeed) => new ChangeStreams(feed, metrics, { ...STREAM_DEFAULTS, most: limits.streams }), inject: [ChangeFeed] },
        { provide: AccessWatch, useFactory: (keys: KeyStore, people: People | null) => new AccessWatch(keys, { ...WATCH_DEFAULTS, maxStalenessMs }, people), inject: [KeyStore, People] },
        { provide: TenantStore, useValue: new PrismaTenantStore(database) },
        { provide: KeyStore, useValue: new PrismaKeyStore(database) },
        { provide: PolicyLoader, useFactory: (engines: Engines) => compilingConditions(new PrismaPolicyLoader(database), engines), inject: [Engines] },
        { provide: PolicyViews, useFactory: (loader: PolicyLoader) => new PolicyViews(loader, metrics, maxStalenessMs, undefined, limits.viewBytes, tracing), inject: [PolicyLoader] },
        { provide: GovernanceStore, useFactory: (views: PolicyViews, conversations: ConversationStates) => announcing(new PrismaGovernanceStore(database), views, conversations), inject: [PolicyViews, ConversationStates] },
        {
          provide: Sweeper,
          useFactory: (tenants: TenantStore, conversations: ConversationStore, history: HistoryStore) => new Sweeper(tenants, [
            { name: 'conversations', sweep: (tenant, batch) => conversations.sweep(tenant, batch) },
            { name: 'history', sweep: (tenant, batch) => history.sweep(tenant, batch) },
          ], logger),
          inject: [TenantStore, ConversationStore, HistoryStore],
        },
        { provide: KnownTenants, useFactory: (tenants: TenantStore) => new KnownTenants(tenants, maxStalenessMs), inject: [TenantStore] },
        { provide: People, useFactory: (tenants: KnownTenants) => peopleOf(config.oidc, tenants, metrics, logger), inject: [KnownTenants] },
        { provide: Authenticator, useFactory: (keys: KeyStore, people: People | null) => new Authenticator(keys, platformKey, maxStalenessMs, undefined, people), inject: [KeyStore, People] },
        TenantsService, KeysService, SettingsService, SyncService, ToolsService, DiagnosticService, AgentsService, AgentToolsService, Subjects, Grounds, ConversationsService, DecisionService, PreviewService, ExplainService, Impacts, ToolImpactService, SettingsImpactService, SearchService, Reverter, HistoryService,
        ...admission(new RateLimits(config.rates, redis === undefined ? new NoRateStore() : new RedisRateStore(redis, WINDOW_S), metrics)),
        { provide: AnswerMemo, useValue: new AnswerMemo(limits.answerBytes, build) },
        OutcomeMemo, Answers, ColdAnswers, SharedAnswering,
        { provide: AnswerStore, useValue: redis === undefined ? new NoAnswerStore() : new RedisAnswerStore(redis, platformKey, build, metrics, tracing) },
        ...invalidationProviders({ config, database, looks, redis: redis ?? null, logger, metrics }),
        { provide: APP_PIPE, useValue: new StrictValidationPipe(limits) },
        { provide: APP_FILTER, useValue: new ProblemFilter(problems) },
      ],
    };
  }
}

/** Null where nobody vouches for people. */
const peopleOf = (oidc: OidcConfig | null, tenants: KnownTenants, metrics: Metrics, logger: Logger): People | null =>
  oidc && new People(oidc, new SigningKeys(new Issuer(oidc), { maxAgeMs: oidc.keysMaxAgeS * 1_000, metrics, logger }), tenants, metrics, logger);

/** A write is seen by the next decision of this process. */
function announcing(store: GovernanceStore, views: PolicyViews, conversations: ConversationStates): GovernanceStore {
  store.onCommit(({ tenant }) => {
    views.noteCommit(tenant);
    conversations.noteGovernance(tenant);
  });
  return store;
}

/** Who is let in, how often, and how many at once. */
const admission = (rates: RateLimits): Provider[] => [
  { provide: AccessGuard, useFactory: (reflector: Reflector, authenticator: Authenticator, tenants: TenantStore) => new AccessGuard(reflector, authenticator, tenants, rates), inject: [Reflector, Authenticator, TenantStore] },
  { provide: APP_GUARD, useExisting: AccessGuard },
  { provide: APP_INTERCEPTOR, useClass: BoundConcurrency },
];
