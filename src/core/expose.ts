/** Which of the decided tools are offered at once and which on demand (semantics, section 7). */

/** `initialTools` and `searchableTools` are disjoint and together `toolNames`. */
export interface Exposed {
  readonly initialTools: readonly string[];
  readonly searchableTools: readonly string[];
  /** A loader exactly when something is searchable. */
  readonly loaderTools: readonly string[];
}

/** Mode `all`: everything is offered at once, and nothing needs a loader. */
export const exposeAll = (toolNames: readonly string[]): Exposed => ({ initialTools: toolNames, searchableTools: [], loaderTools: [] });
