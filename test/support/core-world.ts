import { AgentsService } from '../../src/agents/agents.service.js';
import { AgentToolsService } from '../../src/agents/agent-tools.service.js';
import type { DocumentInput } from '../../src/agents/agent-writer.js';
import { STATES } from '../../src/core/agent-state.js';
import type { BulkAction } from '../../src/core/bulk-actions.js';
import { DecisionService, toldOf } from '../../src/decision/decision.service.js';
import { ConversationReader } from '../../src/conversations/conversation-reader.js';
import { ConversationStates } from '../../src/conversations/conversation-states.js';
import { shownConversation } from '../../src/conversations/conversations.controller.js';
import { ConversationsService } from '../../src/conversations/conversations.service.js';
import { Grounds } from '../../src/decision/grounds.js';
import { ExplainService } from '../../src/decision/explain.service.js';
import { draftsIn } from '../../src/decision/preview.controller.js';
import { PreviewService } from '../../src/decision/preview.service.js';
import { RequestReader } from '../../src/decision/request-reader.js';
import { LibraryEngines } from '../../src/engines/library-engines.js';
import { entryView } from '../../src/history/history.controller.js';
import { HistoryService } from '../../src/history/history.service.js';
import { Reverter } from '../../src/history/reverter.js';
import { DEFAULT_LIMITS } from '../../src/platform/config/config.js';
import { AppError } from '../../src/platform/errors/app-error.js';
import { etagOf } from '../../src/platform/errors/etag.js';
import { languageOf } from '../../src/platform/http/request-context.js';
import { StrictValidationPipe } from '../../src/platform/http/strict-validation.pipe.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import { PolicyViews } from '../../src/policy/policy-views.js';
import { SearchService } from '../../src/decision/search.service.js';
import { LexicalRanker } from '../../src/search/lexical-ranker.js';
import { Impacts } from '../../src/policy/impacts.js';
import { Subjects } from '../../src/policy/subjects.js';
import { DiagnosticService } from '../../src/registry/diagnostic.service.js';
import { ToolImpactDto } from '../../src/registry/tool-impact.dto.js';
import { ToolImpactService } from '../../src/registry/tool-impact.service.js';
import { SyncService } from '../../src/registry/sync.service.js';
import type { GovernancePatch } from '../../src/registry/tools.service.js';
import { ToolsService } from '../../src/registry/tools.service.js';
import { SettingsImpactDto } from '../../src/tenancy/settings-impact.dto.js';
import { SettingsImpactService } from '../../src/tenancy/settings-impact.service.js';
import { SettingsService } from '../../src/tenancy/settings.service.js';
import type { SyncRequest } from '../../src/core/sync-plan.js';
import { authorFor } from './authors.js';
import { DEFAULT_AGENT, DEFAULT_CONVERSATION } from './case-file.js';
import { isOfConversation, isOfOperator, isWhatIf } from './case-file.js';
import type { ConversationStep, OperatorStep, PlainStep, Step, WhatIfStep } from './case-file.js';
import type { World } from './case-runner.js';
import { MemoryWorld } from './memory-world.js';

type Json = Record<string, unknown>;

const SYNC_DEFAULTS = { source: 'runtime', mode: 'full', format: 'toolcrib', namespace: null, confirmRemovals: false, categories: null, tools: [] };
/** One of each for all worlds, as the service has one for all tenants: they hold nothing of any, and are dear to make (a glossary, compiled schemas). */
const RANKER = new LexicalRanker();
const ENGINES = new LibraryEngines();
const READER = new RequestReader(DEFAULT_LIMITS);
const CONVERSATION_READER = new ConversationReader(DEFAULT_LIMITS);
const IMPACTS = new Impacts(ENGINES, DEFAULT_LIMITS);
const TENANT = 'cases' as TenantId;
const BY = authorFor(TENANT);

/** The core with its real engines and the in-memory twins: no HTTP, no database. */
export class CoreWorld implements World {
  private readonly memory = new MemoryWorld();
  private readonly views = new PolicyViews(this.memory.policy, new Metrics(), 30_000);
  private readonly syncs = new SyncService(this.memory.governance, ENGINES, DEFAULT_LIMITS);
  private readonly tools = new ToolsService(this.memory.governance, this.views, DEFAULT_LIMITS);
  private readonly agents = new AgentsService(this.memory.governance, this.views, DEFAULT_LIMITS);
  private readonly agentTools = new AgentToolsService(this.memory.governance, this.views, DEFAULT_LIMITS);
  private readonly diagnostics = new DiagnosticService(this.views, DEFAULT_LIMITS);
  private readonly settings = new SettingsService(this.memory.governance, this.views);
  private readonly history = new HistoryService(this.memory.history, this.memory.governance, new Reverter(ENGINES, DEFAULT_LIMITS));
  private readonly subjects = new Subjects(ENGINES);
  private readonly states = new ConversationStates(this.memory.conversations, 30_000);
  private readonly conversations = new ConversationsService(this.memory.conversations, this.states, this.views, this.subjects);
  private readonly grounds = new Grounds(this.views, this.states);
  private readonly decisions = new DecisionService(this.grounds, this.subjects, ENGINES);
  private readonly previews = new PreviewService(this.grounds, this.decisions, this.subjects, DEFAULT_LIMITS);
  private readonly explanations = new ExplainService(this.grounds, this.subjects);
  private readonly toolImpacts = new ToolImpactService(this.views, IMPACTS, DEFAULT_LIMITS);
  private readonly settingsImpacts = new SettingsImpactService(this.views, IMPACTS);
  private readonly shapes = new StrictValidationPipe(DEFAULT_LIMITS);
  private readonly searches = new SearchService(this.grounds, this.views, this.states, this.subjects, RANKER);

  private constructor() {
    this.memory.governance.onCommit(({ tenant }) => {
      this.views.noteCommit(tenant);
      this.states.noteGovernance(tenant);
    });
  }

  static async open(): Promise<CoreWorld> {
    const world = new CoreWorld();
    await world.memory.tenantStore.create(TENANT, 'cases');
    return world;
  }

  async do(step: Step): Promise<Json> {
    try {
      return await this.answer(step);
    } catch (error) {
      if (error instanceof AppError) return { error: error.code, detail: error.detail, ...(error.pending && { pending: error.pending }) };
      throw error;
    }
  }

  private answer(step: Step): Promise<Json> {
    if (isOfOperator(step)) return this.operate(step);
    if (isWhatIf(step)) return this.whatIf(step);
    return isOfConversation(step) ? this.inConversation(step) : this.run(step);
  }

  private async whatIf({ action, input }: WhatIfStep): Promise<Json> {
    const { agentId = DEFAULT_AGENT, toolName = '', ...body } = input as { agentId?: string; toolName?: string };
    switch (action) {
      case 'preview': {
        const { draft, draftAgentTools, draftToolOverride, ...turn } = READER.readPreview(body);
        return { ...(await this.previews.preview(TENANT, { ...turn, agentId }, draftsIn(agentId, { draft, draftAgentTools, draftToolOverride }, this.shapes), 'en')) };
      }
      case 'explain':
        return { ...(await this.explanations.explain(TENANT, toolName, { ...READER.readExplain(body), agentId }, 'en')) };
      case 'toolImpact': {
        const { patch, contexts } = this.shapes.transform(body, { type: 'body', metatype: ToolImpactDto }) as ToolImpactDto;
        return { ...(await this.toolImpacts.impact(TENANT, toolName, patch, contexts)) };
      }
      case 'settingsImpact': {
        const { patch, contexts } = this.shapes.transform(body, { type: 'body', metatype: SettingsImpactDto }) as SettingsImpactDto;
        return { ...(await this.settingsImpacts.impact(TENANT, patch, contexts)) };
      }
    }
  }

  private async run({ action, input }: PlainStep): Promise<Json> {
    const { agentId = DEFAULT_AGENT, ...body } = input as { agentId?: string };
    switch (action) {
      case 'sync': {
        const { dryRun = false, ...request } = input as { dryRun?: boolean };
        const { result, revision } = await this.syncs.sync(BY, { ...SYNC_DEFAULTS, ...request } as SyncRequest, dryRun);
        return { ...result, unchanged: result.unchanged.length, revision, dryRun };
      }
      case 'put': {
        const { force = false, ...document } = body as { force?: boolean };
        const current = await this.agents.get(TENANT, agentId).catch(() => null);
        const { result, revision } = await this.agents.put(BY, agentId, current === null ? undefined : etagOf(current.revision), document, force);
        return { ...this.document(result), ...result.widening, warnings: result.warnings, revision };
      }
      case 'patch': {
        const { revision: known } = await this.agents.get(TENANT, agentId);
        const { result, revision } = await this.agents.patch(BY, agentId, etagOf(known), body);
        return { ...this.document(result), warnings: result.warnings, revision };
      }
      case 'import': {
        const { agents, dryRun = false, force = false } = input as unknown as { agents: (DocumentInput & { agentId: string })[]; dryRun?: boolean; force?: boolean };
        const documents = agents.map(({ agentId: id, ...document }) => ({ ...document, agentId: id }));
        const { result, revision } = await this.agents.import(BY, documents, { dryRun, force });
        const results = result.map((saved) => ({ agentId: saved.agentId, status: saved.status, document: saved.record && this.document(saved), added: saved.widening?.added ?? [], removed: saved.widening?.removed ?? [], warnings: saved.warnings }));
        return { revision, results };
      }
      case 'deleteAgent':
        return { revision: (await this.agents.delete(BY, (input as { name: string }).name)).revision };
      case 'governance': {
        const { name, ...patch } = input as { name: string } & GovernancePatch;
        const { record } = await this.tools.get(TENANT, name);
        const { result, revision } = await this.tools.patch(BY, name, etagOf(record.revision), patch);
        return { declaration: result.record.declaration, governance: result.record.governance, effective: result.effective, revision };
      }
      case 'deleteTool':
        return { revision: (await this.tools.delete(BY, (input as { name: string }).name)).revision };
      case 'settings': {
        const { revision: known } = await this.settings.read(TENANT);
        const { result, revision } = await this.settings.patch(BY, etagOf(known), input);
        return { ...result.settings, revision };
      }
      case 'decide':
        return { ...toldOf(await this.decisions.decide(TENANT, READER.readDecide({ agentId, ...body }), 'en')) };
      case 'check':
        return { ...(await this.decisions.check(TENANT, READER.readCheck({ agentId, ...body }), 'en')).answer };
      case 'search':
        return { ...(await this.searches.search(TENANT, READER.readSearch({ agentId, ...body }))) };
      case 'registry':
        return { items: await this.tools.loadingRegistry(TENANT) };
    }
  }

  private async inConversation({ action, input }: ConversationStep): Promise<Json> {
    const { conversationId = DEFAULT_CONVERSATION, agentId = DEFAULT_AGENT, ...body } = input as { conversationId?: string; agentId?: string };
    switch (action) {
      case 'converse': {
        const { created, ...shown } = await this.conversations.create(TENANT, conversationId, CONVERSATION_READER.readCreate({ agentId, ...body }));
        return { created, ...shownConversation(shown) };
      }
      case 'conversation':
        return shownConversation(await this.conversations.get(TENANT, conversationId));
      case 'load':
        return { ...(await this.conversations.load(TENANT, conversationId, CONVERSATION_READER.readLoad(body))) };
      case 'compress':
        return { ...(await this.conversations.compress(TENANT, conversationId)) };
      case 'endConversation':
        await this.conversations.delete(TENANT, conversationId);
        return {};
    }
  }

  private async operate({ action, input }: OperatorStep): Promise<Json> {
    const { agentId = DEFAULT_AGENT, language: asked = 'en', name = '', ...rest } = input as { agentId?: string; language?: string; name?: string };
    const language = languageOf({ headers: { 'accept-language': asked } });
    switch (action) {
      case 'switch': {
        const { result, revision } = await this.agentTools.switch(BY, agentId, name, (rest as { on: boolean }).on, language);
        return { state: result.state, stateLabel: result.state && STATES[result.state][language], document: this.document(result), warnings: result.warnings, revision };
      }
      case 'history': {
        const entries = await this.history.list(TENANT, rest, null, 100);
        return { items: entries.map((entry) => entryView(entry, entry.change)) };
      }
      case 'revert': {
        const { revision: entry, force = false } = rest as { revision: number; force?: boolean };
        const { result, revision } = await this.history.revert(BY, entry, force);
        return { ...result, revision };
      }
      case 'bulk': {
        const { result, revision } = await this.agentTools.act(BY, agentId, name as BulkAction);
        return { ...this.document(result), warnings: result.warnings, revision };
      }
      case 'editor': {
        const { core, ...filter } = rest as { core?: string };
        return { ...(await this.agentTools.editor(TENANT, agentId, { ...filter, core: core === undefined ? undefined : core === 'true' }, language)) };
      }
      case 'diagnostic':
        return { ...(await this.diagnostics.diagnose(TENANT, rest)) };
    }
  }

  private document({ record }: { record: { document: object; origin: string } | null }): Json {
    return record === null ? {} : { ...record.document, origin: record.origin };
  }
}
