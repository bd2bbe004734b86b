/** A conversation's beginning: what is deferred in it, pinned once (semantics, section 7). */
import { isObject, own, unique } from './json.js';
import type { LoadingGroup } from './loading-registry.js';
import type { LoadingState } from './loading-state.js';
import { NOTHING_DEFERRED } from './loading-state.js';
import type { PolicyView } from './policy-view.js';
import type { ContextInput, DecideContext } from './request.js';
import { readContext } from './request.js';

/** No control characters and no half of a surrogate pair: others can not be kept, so nothing has them. */
export const isConversationId = (id: string): boolean => Array.from(id).length <= 256 && /^(?=.*\S)[^\p{Cc}\p{Cs}]+$/u.test(id);

/** A request to create a conversation as it is sent. `preferences` is free-form: no damage in it is an error. */
export interface ConversationInput {
  readonly agentId: string;
  readonly context?: ContextInput | null;
  readonly preferences?: unknown;
  readonly multiAgentMode?: boolean | null;
  readonly builtToolNames?: readonly string[] | null;
}

/** The same after defaults: two requests that read alike are the same request. */
export interface ConversationRequest {
  readonly agentId: string;
  readonly context: DecideContext;
  /** False: nothing is deferred for the life of the conversation. */
  readonly enabled: boolean;
  /** Names that the user lets be deferred, sorted; null = all that can be. */
  readonly deferred: readonly string[] | null;
  /** What the runtime built at once; null = what is decided for the context. */
  readonly builtToolNames: readonly string[] | null;
}

export function readConversationRequest({ agentId, context, preferences, multiAgentMode, builtToolNames }: ConversationInput): ConversationRequest {
  const held = isObject(preferences) ? preferences : {};
  const enabled = own(held, 'toolLoadingEnabled');
  const deferred = own(held, 'toolLoadingDeferred');
  return {
    agentId,
    context: readContext(context),
    enabled: multiAgentMode !== true && (enabled === undefined || enabled === true),
    deferred: Array.isArray(deferred) ? unique(deferred.filter((name) => typeof name === 'string')).sort() : null,
    builtToolNames: builtToolNames ? unique(builtToolNames.filter((name) => name.trim() !== '')) : null,
  };
}

export interface Snapshot {
  readonly state: LoadingState;
  /** For the system prompt; frozen. Empty when nothing is deferred. */
  readonly catalogText: string;
}

/** `toolNames` are those of a decide for the request's agent and context. */
export function snapshotOf({ enabled, deferred, builtToolNames }: ConversationRequest, toolNames: readonly string[], view: PolicyView): Snapshot {
  if (!enabled) return { state: NOTHING_DEFERRED, catalogText: '' };
  const wanted = deferred && new Set(deferred);
  const atOnce = new Set(view.settings.alwaysInitial);
  const isDeferred = (name: string): boolean => (wanted === null || wanted.has(name)) && !atOnce.has(name);
  const deferredSet = view.loadingGroups.flatMap(({ tools }) => tools.filter(isDeferred));
  const later = new Set(deferredSet);
  const exposed = (builtToolNames ?? toolNames).filter((name) => !later.has(name));
  const initialExposed = unique([...exposed, ...(deferredSet.length > 0 ? ['load_tools'] : [])]);
  const offered = new Set(toolNames.filter((name) => later.has(name)));
  return {
    state: { enabled: true, deferredSet, initialExposed, loaded: [], discovered: [] },
    catalogText: view.loadingGroups.flatMap((group) => catalogLine(group, offered)).join('\n'),
  };
}

/** A category's words are other people's text: whatever they hold, it stays one line. */
function catalogLine({ label, whenToUse, tools }: LoadingGroup, offered: ReadonlySet<string>): string[] {
  const names = tools.filter((name) => offered.has(name));
  return names.length === 0 ? [] : [`- ${label} (${names.join(', ')}): ${whenToUse}`.replace(/\s*[\n\v\f\r\u0085\u2028\u2029]\s*/gu, ' ')];
}
