import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AppParts } from './app.module.js';
import { AppModule } from './app.module.js';
import { ChangeFeed } from './changes/change-feed.js';
import { ConversationStates } from './conversations/conversation-states.js';
import { Answers } from './decision/answers.js';
import { ColdAnswers } from './decision/cold-answers.js';
import { DecisionLog } from './decision/decision-log.js';
import { DecisionService } from './decision/decision.service.js';
import { openFastRoad } from './decision/fast-road.js';
import { RequestReader } from './decision/request-reader.js';
import { SearchService } from './decision/search.service.js';
import { GovernanceStore } from './governance/governance.store.js';
import { Problems } from './platform/errors/problems.js';
import { acceptJson } from './platform/http/json-body.js';
import { LateShedding, shedWhenLate } from './platform/http/overload.js';
import { noteAnswered, observeRequests } from './platform/http/request-context.js';
import { httpServer, refuseNul, refuseOtherMethods } from './platform/http/server.js';
import { answerWithin, traceRequests } from './platform/http/traced.js';
import { NestLogger } from './platform/observability/logger.js';
import { NO_TRACING } from './platform/observability/tracing.js';
import { PolicyViews } from './policy/policy-views.js';
import { AccessGuard } from './tenancy/access.guard.js';
import { tellRates } from './tenancy/access-rates.js';
import { Authenticator } from './tenancy/authenticator.js';
import { refuseLargeBodiesOfStrangers } from './tenancy/large-bodies.js';

/** The whole service, not listening yet. */
export async function createApp(parts: AppParts): Promise<NestFastifyApplication> {
  const { config, logger, metrics, tracing = NO_TRACING } = parts;
  const problems = new Problems(logger);
  const adapter = httpServer(problems, config.requestTimeoutMs);
  const fastify = adapter.getInstance();
  const note = noteAnswered(logger, metrics, tracing);
  answerWithin(fastify, tracing);
  observeRequests(fastify, note);
  refuseNul(fastify);
  refuseOtherMethods(fastify);
  acceptJson(fastify, config.limits);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(parts, problems), adapter, { logger: new NestLogger(logger), bodyParser: false, abortOnError: false });
  refuseLargeBodiesOfStrangers(fastify, app.get(Authenticator), config.limits.bodyBytes);
  tellRates(fastify);
  const shedding = new LateShedding(config.limits, metrics);
  openFastRoad(fastify, {
    guard: app.get(AccessGuard),
    views: app.get(PolicyViews),
    conversations: app.get(ConversationStates),
    answers: app.get(Answers),
    decisions: app.get(DecisionService),
    reader: app.get(RequestReader),
    limits: config.limits,
    metrics,
    note,
    tracing,
    shedding,
    log: app.get(DecisionLog),
  });
  traceRequests(fastify, tracing);
  shedWhenLate(fastify, shedding);
  const searches = app.get(SearchService);
  const changes = app.get(ChangeFeed);
  const cold = app.get(ColdAnswers);
  app.get(GovernanceStore).onCommit(({ tenant }) => {
    searches.noteCommit(tenant);
    changes.note(tenant);
    cold.noteCommit(tenant);
  });
  return app;
}
