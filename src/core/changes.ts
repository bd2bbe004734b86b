/** What a tenant's change stream tells of each revision. */
import type { Change, Entity } from './history.js';
import { byText, unique } from './json.js';

export const CHANGE_KINDS = ['catalog', 'agent', 'settings'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** One revision, without what it changed from and to. */
export interface RevisionChange {
  readonly revision: number;
  readonly kind: ChangeKind;
  /** Names of the tools that it touched, or the id of its agent; empty for settings. */
  readonly ids: readonly string[];
}

/** An entry of history as far as the stream needs it. The ids are null in one that was written before they were kept. */
export interface KeptChange {
  readonly revision: number;
  readonly entity: Entity;
  readonly ids: readonly string[] | null;
}

/** What the writes of one commit touched, of one kind. */
export interface Touched {
  readonly kind: ChangeKind;
  readonly ids: readonly string[];
}

export const KIND_OF: Readonly<Record<Entity, ChangeKind>> = { sync: 'catalog', tool: 'catalog', agent: 'agent', settings: 'settings' };

/** The ids of what a write touched. A sync touches what it added, updated, restored, took to be missing, or removed. */
export function touchedBy(change: Change): string[] {
  if (change.entity === 'settings') return [];
  if (change.entity !== 'sync') return [change.id];
  return unique([...change.before.tools, ...change.after.tools].map(({ name }) => name)).sort(byText);
}

/**
 * The revisions that follow `after`, as far as `kept` (in order) holds them. Null where they can not be told one by one: more
 * than `most`, the next one removed or without ids, or an `after` that the tenant has not come to.
 */
export function following(after: number, current: number, most: number, kept: readonly KeptChange[]): RevisionChange[] | null {
  if (current < after || current - after > most) return null;
  const changes: RevisionChange[] = [];
  for (const { revision, entity, ids } of kept) {
    if (ids === null || revision !== after + changes.length + 1) break;
    changes.push({ revision, kind: KIND_OF[entity], ids });
  }
  return changes.length === 0 && current > after ? null : changes;
}
