/** Which of its tools a conversation has deferred, and which of those it has loaded (semantics, section 7). */
import { isInternal } from './catalog.js';
import { isObject, own, unique } from './json.js';
import type { PolicyView } from './policy-view.js';

/** What is pinned at creation, and what was loaded and found since. Names alone: no permission is ever kept here. */
export interface LoadingState {
  /** False: nothing is deferred in this conversation. */
  readonly enabled: boolean;
  /** In the order of the loading registry, as it was at creation. */
  readonly deferredSet: readonly string[];
  readonly initialExposed: readonly string[];
  /** Of `deferredSet`, in the order of loading. */
  readonly loaded: readonly string[];
  /** Others that a search has found, or that were loaded beyond a provider's limit. */
  readonly discovered: readonly string[];
}

/** The state as it is answered. */
export interface ToolLoading extends LoadingState {
  /** `deferredSet` without `loaded`: recomputed, never stored. */
  readonly pending: readonly string[];
  /** Names of the three lists that are no longer there to be offered to anybody. */
  readonly staleReferences: readonly string[];
}

export const NOTHING_DEFERRED: LoadingState = { enabled: false, deferredSet: [], initialExposed: [], loaded: [], discovered: [] };

export function pendingOf({ deferredSet, loaded }: Pick<LoadingState, 'deferredSet' | 'loaded'>): string[] {
  const done = new Set(loaded);
  return deferredSet.filter((name) => !done.has(name));
}

export const toolLoadingOf = (state: LoadingState, view: PolicyView): ToolLoading => ({
  enabled: state.enabled,
  deferredSet: state.deferredSet,
  initialExposed: state.initialExposed,
  loaded: state.loaded,
  pending: pendingOf(state),
  discovered: state.discovered,
  staleReferences: unique([...state.deferredSet, ...state.loaded, ...state.discovered]).filter((name) => isStale(name, view)),
});

/** Whether the name fails stage 0. */
function isStale(name: string, { byName }: PolicyView): boolean {
  const tool = byName.get(name);
  return tool === undefined || isInternal(tool) || !tool.record.available;
}

/** The same in the words of the runtime's own metadata. */
export interface ToolLoadingMetadata {
  readonly enabled: boolean;
  readonly deferred_set: readonly string[];
  readonly initial_exposed: readonly string[];
  readonly loaded: readonly string[];
  readonly pending: readonly string[];
}

export const metadataOf = (state: LoadingState): ToolLoadingMetadata => ({
  enabled: state.enabled,
  deferred_set: state.deferredSet,
  initial_exposed: state.initialExposed,
  loaded: state.loaded,
  pending: pendingOf(state),
});

const isName = (item: unknown): item is string => typeof item === 'string' && item !== '';

const namesIn = (held: unknown): string[] => (Array.isArray(held) ? unique(held.filter(isName)) : []);

export const cleanNames = (names: readonly string[]): string[] => unique(names.filter(isName));

/**
 * Reads the state that a runtime holds. INVARIANT (damage hides nothing): whatever stands there is read as some state, and a
 * name that is not well deferred is not deferred at all; a `pending` that was stored counts for nothing.
 */
export function readToolLoading(held: unknown, discovered: readonly string[], { deferrable }: Pick<PolicyView, 'deferrable'>): LoadingState {
  if (!isObject(held) || own(held, 'enabled') !== true) return { ...NOTHING_DEFERRED, discovered };
  const deferredSet = namesIn(own(held, 'deferred_set')).filter((name) => deferrable.has(name));
  const deferred = new Set(deferredSet);
  return {
    enabled: true,
    deferredSet,
    initialExposed: namesIn(own(held, 'initial_exposed')),
    loaded: namesIn(own(held, 'loaded')).filter((name) => deferred.has(name)),
    discovered,
  };
}
