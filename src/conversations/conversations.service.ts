import { Injectable } from '@nestjs/common';
import type { CatalogTool } from '../core/catalog.js';
import { offeredTools } from '../core/decide.js';
import { expose, offeringOf } from '../core/expose.js';
import type { Format } from '../core/formats/format.js';
import { equalJson, unique } from '../core/json.js';
import type { LoadResult, LoadStatus } from '../core/load-tools.js';
import { compress, loadTools, loadableOf } from '../core/load-tools.js';
import type { LoadingState, ToolLoading } from '../core/loading-state.js';
import { pendingOf, toolLoadingOf } from '../core/loading-state.js';
import type { Subject } from '../core/pipeline.js';
import { nameMeant, presentOne } from '../core/present.js';
import type { ContextInput } from '../core/request.js';
import { readContext } from '../core/request.js';
import type { ConversationInput } from '../core/snapshot.js';
import { readConversationRequest, snapshotOf } from '../core/snapshot.js';
import { AppError, conversationNotFound } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyViews } from '../policy/policy-views.js';
import { Subjects } from '../policy/subjects.js';
import { ConversationStates } from './conversation-states.js';
import type { Conversation } from './conversation.store.js';
import { ConversationStore } from './conversation.store.js';

/** A conversation with its state as it is answered now. */
export interface ShownConversation {
  readonly conversation: Conversation;
  readonly toolLoading: ToolLoading;
}

export interface LoadInput {
  readonly toolNames: readonly string[];
  /** Absent or null: the one given at creation. */
  readonly context?: ContextInput | null;
  readonly format?: Format | null;
}

export interface LoadAnswer {
  readonly results: readonly LoadResult[];
  readonly loadedNow: readonly string[];
  readonly alreadyLoaded: readonly string[];
  readonly tools: readonly object[];
  /** What may be loaded now. */
  readonly pending: readonly string[];
}

export interface Compressed {
  readonly toolLoading: ToolLoading;
  readonly previouslyLoaded: readonly string[];
}

@Injectable()
export class ConversationsService {
  constructor(
    private readonly store: ConversationStore,
    private readonly states: ConversationStates,
    private readonly views: PolicyViews,
    private readonly subjects: Subjects,
  ) {}

  /** The same request again finds what it made; another one is refused. */
  async create(tenant: TenantId, conversationId: string, input: ConversationInput): Promise<ShownConversation & { readonly created: boolean }> {
    const request = readConversationRequest(input);
    const { view } = await this.views.get(tenant);
    const subject = this.subjects.of(view, request.agentId, request.context);
    const toolNames = offeredTools(subject).map(({ name }) => name);
    const snapshot = snapshotOf(request, toolNames, view);
    const { conversation, created } = await this.store.create(tenant, { conversationId, agentId: request.agentId, request, ...snapshot });
    if (conversation.agentId !== request.agentId) throw new AppError('CONVERSATION_OF_OTHER_AGENT', `the conversation belongs to agent \`${conversation.agentId}\``);
    if (!equalJson(conversation.request, request)) throw new AppError('CONVERSATION_EXISTS', 'it was created with another request: delete it first, or use another id');
    if (created) this.states.noteWrite(tenant, conversationId);
    return { conversation, created, toolLoading: toolLoadingOf(conversation.state, view) };
  }

  async get(tenant: TenantId, conversationId: string): Promise<ShownConversation> {
    const conversation = await this.find(tenant, conversationId);
    const { view } = await this.views.get(tenant);
    return { conversation, toolLoading: toolLoadingOf(conversation.state, view) };
  }

  async delete(tenant: TenantId, conversationId: string): Promise<void> {
    const existed = await this.store.delete(tenant, conversationId);
    this.states.noteWrite(tenant, conversationId);
    if (!existed) throw conversationNotFound();
  }

  /** Decided on the catalog of now: what was closed since is not loaded, whatever was pinned. */
  async load(tenant: TenantId, conversationId: string, input: LoadInput): Promise<LoadAnswer> {
    const { agentId, request } = await this.find(tenant, conversationId);
    const { view } = await this.views.get(tenant);
    const subject = this.subjects.of(view, agentId, input.context ? readContext(input.context) : request.context);
    const offered = new Map(offeredTools(subject).map((tool) => [tool.name, tool]));
    const format = input.format ?? null;
    const names = unique(input.toolNames.map((name) => nameMeant(name, view, format)));
    const { state, results } = await this.change(tenant, conversationId, (before) => {
      const loaded = loadTools(names, before, { offered, overflowed: overflowedIn(subject, [...offered.values()], before, format) });
      return { state: loaded.state, result: loaded };
    });
    const pending = loadableOf(state, offered);
    if (!results.some(({ status }) => status !== 'unavailable' && status !== 'unknown')) {
      throw new AppError('NOTHING_LOADED', 'none of the names can be loaded here', undefined, pending);
    }
    const tools = results.flatMap(({ name, status }) => (status === 'loaded' || status === 'already_loaded' ? (offered.get(name) ?? []) : []));
    return { ...namesBy(results), tools: tools.flatMap((tool) => presentOne(tool, subject, format) ?? []), pending };
  }

  async compress(tenant: TenantId, conversationId: string): Promise<Compressed> {
    const { view } = await this.views.get(tenant);
    return this.change(tenant, conversationId, (before) => {
      const { state, previouslyLoaded } = compress(before);
      return { state, result: { toolLoading: toolLoadingOf(state, view), previouslyLoaded } };
    });
  }

  private async find(tenant: TenantId, conversationId: string): Promise<Conversation> {
    const conversation = await this.store.find(tenant, conversationId);
    if (conversation === null) throw conversationNotFound();
    return conversation;
  }

  private async change<T>(tenant: TenantId, conversationId: string, change: (state: LoadingState) => { state: LoadingState; result: T }): Promise<T> {
    const result = await this.states.change(tenant, conversationId, ({ state }) => change(state));
    if (result === null) throw conversationNotFound();
    return result;
  }
}

function namesBy(results: readonly LoadResult[]): Pick<LoadAnswer, 'results' | 'loadedNow' | 'alreadyLoaded'> {
  const of = (status: LoadStatus): string[] => results.flatMap((result) => (result.status === status ? [result.name] : []));
  return { results, loadedNow: of('loaded'), alreadyLoaded: of('already_loaded') };
}

/** What decide would keep back in this conversation because the provider takes no more. */
function overflowedIn(subject: Subject, offered: readonly CatalogTool[], state: LoadingState, format: Format | null): ReadonlySet<string> {
  const { searchableTools, overflow } = expose(offered, subject, offeringOf({ exposure: 'deferred', toolLoading: null, discovered: [], format }, state, subject.view));
  const pending = new Set(pendingOf(state));
  return new Set(overflow === 0 ? [] : searchableTools.flatMap(({ name }) => (pending.has(name) ? [] : [name])));
}
