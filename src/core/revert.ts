/** How one entry of history is taken back, decided on what is there now. */
import type { LoadingCategory, ToolRecord } from './catalog.js';
import type { DeclaredTool, SyncChange } from './history.js';
import { categoriesOf, declaredTool } from './history.js';
import { byText, equalJson, unique } from './json.js';

/** How a thing stands to an entry: as that write left it, as it was before it (nothing is left to take back), or otherwise. */
export type Standing = 'as-left' | 'as-before' | 'changed';

export function standing(now: unknown, { before, after }: { readonly before: unknown; readonly after: unknown }): Standing {
  if (equalJson(now, before)) return 'as-before';
  return equalJson(now, after) ? 'as-left' : 'changed';
}

export interface SyncRevert {
  readonly put: readonly DeclaredTool[];
  readonly remove: readonly string[];
  /** Null: they stay as they are. */
  readonly categories: readonly LoadingCategory[] | null;
  /** Names of tools that are not as the sync left them, and `categories`. */
  readonly changed: readonly string[];
  /** Names that belong to another source now: they can not be put back. */
  readonly foreign: readonly string[];
}

/** Of exactly what the sync touched. The overrides of a tool that is there stay as they are. */
export function planSyncRevert(entry: Pick<SyncChange, 'id' | 'before' | 'after'>, tools: ReadonlyMap<string, ToolRecord>, categories: readonly LoadingCategory[]): SyncRevert {
  const before = byName(entry.before.tools);
  const after = byName(entry.after.tools);
  const plan = { put: [] as DeclaredTool[], remove: [] as string[], changed: [] as string[], foreign: [] as string[] };
  for (const name of unique([...before.keys(), ...after.keys()]).sort(byText)) {
    const now = tools.get(name);
    const was = before.get(name);
    if (now !== undefined && now.source !== entry.id) {
      if (was !== undefined) plan.foreign.push(name);
      continue;
    }
    if (isAs(now, was)) continue;
    if (!isAs(now, after.get(name)) || (was === undefined && hasOverridesSince(now, after.get(name)))) plan.changed.push(name);
    if (was === undefined) plan.remove.push(name);
    else plan.put.push(now === undefined ? was : withoutOverrides(was));
  }
  const own = categoriesBack(entry, categories);
  return { ...plan, categories: own.categories, changed: own.changed ? [...plan.changed, 'categories'] : plan.changed };
}

const byName = (tools: readonly DeclaredTool[]): ReadonlyMap<string, DeclaredTool> => new Map(tools.map((tool) => [tool.name, tool]));

function isAs(now: ToolRecord | undefined, state: DeclaredTool | undefined): boolean {
  if (now === undefined || state === undefined) return now === state;
  return equalJson(declaredTool(now), withoutOverrides(state));
}

/** A tool that is to go takes its overrides with it, so those that ops gave it since count as a change. */
const hasOverridesSince = (now: ToolRecord | undefined, left: DeclaredTool | undefined): boolean => !equalJson(now?.governance ?? {}, left?.governance ?? {});

const withoutOverrides = ({ governance: _, ...tool }: DeclaredTool): DeclaredTool => tool;

function categoriesBack({ id, before, after }: Pick<SyncChange, 'id' | 'before' | 'after'>, categories: readonly LoadingCategory[]): { categories: readonly LoadingCategory[] | null; changed: boolean } {
  if (before.categories === null) return { categories: null, changed: false };
  const how = standing(categoriesOf(id, categories), { before: before.categories, after: after.categories });
  if (how === 'as-before') return { categories: null, changed: false };
  return { categories: before.categories.map((category) => ({ ...category, source: id })), changed: how === 'changed' };
}
