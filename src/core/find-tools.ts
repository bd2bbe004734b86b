/** `tool_search`: filter first, rank then, cut last (semantics, section 7). */
import type { CatalogTool } from './catalog.js';
import { descriptionFor } from './definition.js';
import type { Exposed } from './expose.js';
import type { Subject } from './pipeline.js';
import type { PolicyView } from './policy-view.js';
import type { Ranked } from './search.js';

export interface FoundTool {
  readonly name: string;
  readonly description: string;
  /** Higher is better; comparable within one answer alone. */
  readonly score: number;
  /** Whether it was offered at once already, before this search. */
  readonly exposed: boolean;
  readonly tool: CatalogTool;
}

/** Where a search that found nothing may look next. */
export interface CategoryCount {
  readonly key: string;
  readonly label: string;
  readonly count: number;
}

export interface Findings {
  readonly results: readonly FoundTool[];
  /** Of all matches. */
  readonly total: number;
  /** There when nothing matched. */
  readonly categories?: readonly CategoryCount[];
}

/**
 * `ranked` are the matches among what the agent has in this turn, best first.
 *
 * INVARIANT (search adds nothing): whatever the ranking says, only tools that passed the pipeline are found.
 */
export function findTools(ranked: readonly Ranked[], exposed: Exposed, subject: Subject, limit: number): Findings {
  const { initialTools, searchableTools } = exposed;
  const atOnce = new Set(initialTools);
  const offered = new Map([...initialTools, ...searchableTools].map((tool) => [tool.name, tool]));
  const matches = ranked.filter(({ name }) => offered.has(name));
  if (matches.length === 0) return { results: [], total: 0, categories: categoriesOf([...offered.values()], subject.view) };
  const results = matches.slice(0, limit).flatMap(({ name, score }) => {
    const tool = offered.get(name);
    return tool === undefined ? [] : [{ name, description: descriptionFor(tool, subject), score, exposed: atOnce.has(tool), tool }];
  });
  return { results, total: matches.length };
}

/** The loading categories of what the agent has; where none has any, the groups that it is shown in. */
function categoriesOf(offered: readonly CatalogTool[], { loadingGroups }: PolicyView): CategoryCount[] {
  const names = new Set(offered.map(({ name }) => name));
  const groups = loadingGroups.map(({ key, label, tools }) => ({ key, label, count: tools.filter((name) => names.has(name)).length })).filter(({ count }) => count > 0);
  if (groups.length > 0) return groups;
  const counts = new Map<string, number>();
  for (const { effective: { toolset } } of offered) counts.set(toolset, (counts.get(toolset) ?? 0) + 1);
  return [...counts].map(([key, count]) => ({ key, label: key, count })).sort((a, b) => (a.key < b.key ? -1 : 1));
}
