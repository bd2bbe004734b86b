/** Which of the decided tools are offered at once and which on demand (semantics, section 7). */
import type { CatalogTool } from './catalog.js';
import type { Format } from './formats/format.js';
import { definitionLimit } from './formats/format.js';
import type { LoadingState } from './loading-state.js';
import { cleanNames, pendingOf, readToolLoading } from './loading-state.js';
import type { ToldSubject } from './pipeline.js';
import type { PolicyView } from './policy-view.js';
import type { Exposure } from './settings.js';

export const LOADERS = ['load_tools', 'tool_search'] as const;
export type Loader = (typeof LOADERS)[number];

export const isLoader = (name: string): name is Loader => (LOADERS as readonly string[]).includes(name);

/** How tools are to be offered: what of the request and its conversation enters exposure. */
export interface Offering {
  readonly mode: Exposure;
  /** Null: neither a snapshot nor a state of the runtime's own. */
  readonly state: LoadingState | null;
  /** Found by a search before: the state's, or the request's where there is none. */
  readonly discovered: readonly string[];
  /** How many definitions the provider takes, the loaders' own included; null = any number. */
  readonly limit: number | null;
}

/** `initialTools` and `searchableTools` are disjoint and together what was offered to be split, in its order. */
export interface Exposed {
  readonly initialTools: readonly CatalogTool[];
  readonly searchableTools: readonly CatalogTool[];
  /** A loader exactly when something is searchable. */
  readonly loaderTools: readonly Loader[];
  /** How many initial tools wait behind a search because the provider takes no more. */
  readonly overflow: number;
}

/** INVARIANT (whitelists grant nothing): it splits what passed the pipeline, and adds nothing to it. */
export function expose(offered: readonly CatalogTool[], subject: Pick<ToldSubject, 'view' | 'depth'>, offering: Offering): Exposed {
  const initial = offered.filter(initialBy(subject, offering));
  const isSplit = initial.length < offered.length;
  const loader: Loader = offering.mode === 'deferred' ? 'load_tools' : 'tool_search';
  if (offering.limit !== null && initial.length + (isSplit ? 1 : 0) > offering.limit) return cut(offered, initial, offering, offering.limit);
  if (!isSplit) return { initialTools: offered, searchableTools: [], loaderTools: [], overflow: 0 };
  return { ...split(offered, initial), loaderTools: [loader], overflow: 0 };
}

function initialBy({ view: { settings }, depth }: Pick<ToldSubject, 'view' | 'depth'>, { mode, state, discovered }: Offering): (tool: CatalogTool) => boolean {
  switch (mode) {
    case 'all':
      return () => true;
    case 'deferred': {
      const pending = new Set(state === null ? [] : pendingOf(state));
      return ({ name }) => !pending.has(name);
    }
    case 'search': {
      const names = new Set([...settings.alwaysInitial, ...(state?.loaded ?? []), ...discovered]);
      const targets = new Set(depth === 0 ? settings.mainAgentInitialSubagents : []);
      return ({ name, effective: { role, targetAgentId } }) => names.has(name) || (role === 'delegate' && targetAgentId !== null && targets.has(targetAgentId));
    }
  }
}

/** What was loaded or found is kept first, then the others in their order; the rest waits behind a search. */
function cut(offered: readonly CatalogTool[], initial: readonly CatalogTool[], { mode, state, discovered }: Offering, limit: number): Exposed {
  const loaderTools: readonly Loader[] = mode === 'deferred' ? ['load_tools', 'tool_search'] : ['tool_search'];
  const wanted = new Set([...(state?.loaded ?? []), ...discovered]);
  const first = initial.filter(({ name }) => wanted.has(name));
  const others = initial.filter(({ name }) => !wanted.has(name));
  const kept = [...first, ...others].slice(0, limit - loaderTools.length);
  return { ...split(offered, kept), loaderTools, overflow: initial.length - kept.length };
}

function split(offered: readonly CatalogTool[], initial: readonly CatalogTool[]): Pick<Exposed, 'initialTools' | 'searchableTools'> {
  const chosen = new Set(initial);
  return { initialTools: offered.filter((tool) => chosen.has(tool)), searchableTools: offered.filter((tool) => !chosen.has(tool)) };
}

/** What of a request says how tools are to be offered. */
export interface OfferingAsked {
  /** Null: by the conversation, else by the tenant's setting. */
  readonly exposure: Exposure | null;
  /** The state that the runtime holds itself, in whatever shape; null = none. */
  readonly toolLoading: unknown;
  readonly discovered: readonly string[];
  readonly format: Format | null;
}

/** `snapshot` is the state of the conversation that the request names, or null. */
export function offeringOf({ exposure, toolLoading, discovered, format }: OfferingAsked, snapshot: LoadingState | null, view: PolicyView): Offering {
  const found = cleanNames(discovered);
  const held = toolLoading === null ? null : readToolLoading(toolLoading, found, view);
  const state = snapshot ?? held;
  return {
    mode: exposure ?? (state === null ? view.settings.defaultExposure : 'deferred'),
    state,
    discovered: state?.discovered ?? found,
    limit: format && definitionLimit(format),
  };
}
