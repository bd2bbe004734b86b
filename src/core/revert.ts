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
  const touched = unique([...before.keys(), ...after.keys()]).sort(byText).map((name) => ({ name, now: tools.get(name), was: before.get(name), left: after.get(name) }));
  const isForeign = ({ now }: Touched): boolean => now !== undefined && now.source !== entry.id;
  const open = touched.filter((tool) => !isForeign(tool) && !isAs(tool.now, tool.was));
  const own = categoriesBack(entry, categories);
  return {
    put: open.flatMap(({ now, was }) => (was === undefined ? [] : [now === undefined ? was : withoutOverrides(was)])),
    remove: open.filter(({ was }) => was === undefined).map(({ name }) => name),
    categories: own.categories,
    changed: [...open.filter(hasChanged).map(({ name }) => name), ...(own.changed ? ['categories'] : [])],
    foreign: touched.filter((tool) => isForeign(tool) && tool.was !== undefined).map(({ name }) => name),
  };
}

interface Touched {
  readonly name: string;
  readonly now: ToolRecord | undefined;
  readonly was: DeclaredTool | undefined;
  /** As the sync left it. */
  readonly left: DeclaredTool | undefined;
}

/** A tool that is to go takes its overrides with it, so those that ops gave it since count as a change. */
const hasChanged = ({ now, was, left }: Touched): boolean => !isAs(now, left) || (was === undefined && !equalJson(now?.governance ?? {}, left?.governance ?? {}));

const byName = (tools: readonly DeclaredTool[]): ReadonlyMap<string, DeclaredTool> => new Map(tools.map((tool) => [tool.name, tool]));

function isAs(now: ToolRecord | undefined, state: DeclaredTool | undefined): boolean {
  if (now === undefined || state === undefined) return now === state;
  return equalJson(declaredTool(now), withoutOverrides(state));
}

const withoutOverrides = ({ governance: _, ...tool }: DeclaredTool): DeclaredTool => tool;

function categoriesBack({ id, before, after }: Pick<SyncChange, 'id' | 'before' | 'after'>, categories: readonly LoadingCategory[]): { categories: readonly LoadingCategory[] | null; changed: boolean } {
  if (before.categories === null) return { categories: null, changed: false };
  const how = standing(categoriesOf(id, categories), { before: before.categories, after: after.categories });
  if (how === 'as-before') return { categories: null, changed: false };
  return { categories: before.categories.map((category) => ({ ...category, source: id })), changed: how === 'changed' };
}
