import type { Entity, HistoryEntry, ListedEntry } from '../core/history.js';
import type { TenantId } from '../platform/tenant-id.js';

/** What is asked for; an absent member asks for nothing. */
export interface HistoryFilter {
  readonly entity?: Entity | undefined;
  /** Of the entity: an agent's id, a tool's name, a source, `settings`. */
  readonly id?: string | undefined;
  /** The id of a key. */
  readonly actor?: string | undefined;
  /** Both inclusive. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Bytes of an entry's `before` and `after` together, beyond which a list leaves both out: a page of 500 stays below 8 MiB. */
export const LISTED_BYTES = 16 * 1024;

/** One tenant's history. Entries are added by governance writes alone. */
export abstract class HistoryStore {
  /** Newest first, those before `before`. */
  abstract list(tenant: TenantId, filter: HistoryFilter, before: number | null, limit: number): Promise<readonly ListedEntry[]>;
  abstract find(tenant: TenantId, revision: number): Promise<HistoryEntry | null>;
  /** Removes up to `batch` of those that are older than the tenant keeps them, the oldest first. Answers how many. */
  abstract sweep(tenant: TenantId, batch: number): Promise<number>;
}
