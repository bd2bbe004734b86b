/** `load_tools` and its undoing: what a conversation brings in, name by name (semantics, section 7). */
import type { CatalogTool } from './catalog.js';
import type { LoadingState } from './loading-state.js';
import { pendingOf } from './loading-state.js';

export const LOAD_STATUSES = ['loaded', 'already_loaded', 'not_deferred', 'unavailable', 'unknown'] as const;
export type LoadStatus = (typeof LOAD_STATUSES)[number];

export interface LoadResult {
  readonly name: string;
  readonly status: LoadStatus;
}

export interface Loaded {
  /** The state afterwards; the same object when nothing changed. */
  readonly state: LoadingState;
  readonly results: readonly LoadResult[];
}

/** What the agent has in this turn, and what of it waits behind a search because a provider takes no more. */
export interface LoadFacts {
  readonly offered: ReadonlyMap<string, CatalogTool>;
  readonly overflowed: ReadonlySet<string>;
}

/** `names` without repeats. INVARIANT (no leak): a name that was not deferred here and is not the agent's own is `unknown`, whether it exists or not. */
export function loadTools(names: readonly string[], state: LoadingState, facts: LoadFacts): Loaded {
  const deferred = new Set(state.deferredSet);
  const before = new Set(state.loaded);
  const results = names.map((name) => ({ name, status: statusOf(name, { deferred, before, ...facts }) }));
  const loaded = results.flatMap(({ name, status }) => (status === 'loaded' ? [name] : []));
  return { state: mark(state, loaded), results };
}

function statusOf(name: string, { deferred, before, offered, overflowed }: LoadFacts & { readonly deferred: ReadonlySet<string>; readonly before: ReadonlySet<string> }): LoadStatus {
  if (deferred.has(name)) {
    if (!offered.has(name)) return 'unavailable';
    if (!before.has(name)) return 'loaded';
    return overflowed.has(name) ? 'loaded' : 'already_loaded';
  }
  if (!offered.has(name)) return 'unknown';
  return overflowed.has(name) ? 'loaded' : 'not_deferred';
}

/** Marks names once each: those of the deferred set as loaded, others as discovered. The same object when all are marked already. */
export function mark(state: LoadingState, names: readonly string[]): LoadingState {
  const deferred = new Set(state.deferredSet);
  const marked = new Set([...state.loaded, ...state.discovered]);
  const fresh = names.filter((name) => !marked.has(name));
  if (fresh.length === 0) return state;
  return {
    ...state,
    loaded: [...state.loaded, ...fresh.filter((name) => deferred.has(name))],
    discovered: [...state.discovered, ...fresh.filter((name) => !deferred.has(name))],
  };
}

/** The runtime forgot the definitions: everything is pending again. What was loaded and found is told, as a suggestion. */
export function compress(state: LoadingState): { readonly state: LoadingState; readonly previouslyLoaded: readonly string[] } {
  const previouslyLoaded = [...state.loaded, ...state.discovered];
  return { state: previouslyLoaded.length === 0 ? state : { ...state, loaded: [], discovered: [] }, previouslyLoaded };
}

/** What may be loaded now: pending, and the agent's own in this turn. */
export const loadableOf = (state: LoadingState, offered: ReadonlyMap<string, CatalogTool>): string[] => pendingOf(state).filter((name) => offered.has(name));
