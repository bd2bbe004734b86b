/** The registry's lists: filters on effective values, groups for display. */
import type { CatalogTool } from './catalog.js';
import { isOpen } from './catalog.js';
import { byText } from './json.js';

/** An absent member filters nothing. */
export interface ToolFilter {
  readonly search?: string | undefined;
  readonly toolset?: string | undefined;
  readonly source?: string | undefined;
  readonly status?: string | undefined;
  readonly core?: boolean | undefined;
  readonly capability?: string | undefined;
  readonly visibility?: string | undefined;
  readonly available?: boolean | undefined;
}

const fits = <T>(wanted: T | undefined, value: T): boolean => wanted === undefined || wanted === value;

export function filterTools(tools: readonly CatalogTool[], filter: ToolFilter): CatalogTool[] {
  const words = filter.search?.toLowerCase() ?? '';
  return tools.filter(({ record, effective }) =>
    fits(filter.toolset, effective.toolset) && fits(filter.source, record.source) && fits(filter.status, effective.status) &&
    fits(filter.core, effective.isCore) && fits(filter.capability, effective.capability) && fits(filter.visibility, effective.visibility) &&
    fits(filter.available, record.available) && [effective.name, effective.label, effective.description].some((text) => text.toLowerCase().includes(words)));
}

export interface ToolsetCount {
  readonly toolset: string;
  readonly total: number;
  readonly core: number;
}

/** Over the available tools that agents may know of, by name of the group. */
export function toolsetsOf(tools: readonly CatalogTool[]): ToolsetCount[] {
  const counts = new Map<string, ToolsetCount>();
  for (const tool of tools) {
    if (!isOpen(tool)) continue;
    const { toolset, isCore } = tool.effective;
    const { total, core } = counts.get(toolset) ?? { total: 0, core: 0 };
    counts.set(toolset, { toolset, total: total + 1, core: core + (isCore ? 1 : 0) });
  }
  return [...counts.values()].sort((a, b) => byText(a.toolset, b.toolset));
}
