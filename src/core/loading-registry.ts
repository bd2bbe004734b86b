/** The tools that a conversation may start without, by the category that they are shown under (semantics, section 7). */
import type { CatalogTool, LoadingCategory } from './catalog.js';
import { isInternal } from './catalog.js';
import { byText } from './json.js';

export interface LoadingGroup {
  readonly key: string;
  readonly label: string;
  readonly whenToUse: string;
  /** By (`sort`, `name`). */
  readonly tools: readonly string[];
}

/** A key that several sources declare is taken whole from the source that is first by name. */
function declaredOnce(categories: readonly LoadingCategory[]): LoadingCategory[] {
  const byKey = new Map<string, LoadingCategory>();
  for (const category of [...categories].sort((a, b) => byText(b.source, a.source))) byKey.set(category.key, category);
  return [...byKey.values()].sort((a, b) => a.sort - b.sort || byText(a.key, b.key));
}

/**
 * The registered tools that may be deferred, available or not; internal ones and those whose category nobody declares left
 * out. `tools` come by (`sort`, `name`).
 */
export function loadingRegistry(tools: readonly CatalogTool[], categories: readonly LoadingCategory[]): LoadingGroup[] {
  const named = new Map<string, string[]>();
  for (const tool of tools) {
    const key = tool.effective.loadingCategory;
    if (key === null || isInternal(tool)) continue;
    const names = named.get(key);
    if (names === undefined) named.set(key, [tool.name]);
    else names.push(tool.name);
  }
  return declaredOnce(categories).flatMap(({ key, label, whenToUse }) => {
    const names = named.get(key);
    return names === undefined ? [] : [{ key, label, whenToUse, tools: names }];
  });
}
