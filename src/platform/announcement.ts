import { isObject } from '../core/json.js';
import type { TenantId } from './tenant-id.js';
import { tenantId } from './tenant-id.js';

const KINDS = ['catalog', 'agent', 'settings', 'tenant', 'key'] as const;

/**
 * What a replica tells the others of a commit, and no more than a hint: whoever hears it looks at the database. A lost one
 * costs a fraction of a second (see `RevisionWatch`); a repeated, late or made-up one costs a look.
 */
export interface Announcement {
  readonly tenant: TenantId;
  /** `tenant`: it was made or deleted; `key`: keys of it were revoked; else what a governance write changed. */
  readonly kind: (typeof KINDS)[number];
  /** The tenant's revision after the commit; null where it has none. */
  readonly revision: number | null;
  /** Names, agents or keys; null when they are more than a message holds. */
  readonly ids: readonly string[] | null;
  /** Milliseconds since the epoch by the writer's clock: for the measured lag alone. */
  readonly at: number;
}

/** Tells the other replicas of a commit, at once and without waiting; what is not heard they find by themselves. */
export abstract class Announcer {
  abstract tell(announcement: Announcement): void;
}

/** PostgreSQL takes 7,999 bytes; the rest of a message needs less than these. */
const MAX_IDS_BYTES = 6_000;

export const announcementOf = (tenant: TenantId, kind: Announcement['kind'], revision: number | null, ids: readonly string[]): Announcement => ({
  tenant,
  kind,
  revision,
  ids: Buffer.byteLength(JSON.stringify(ids)) <= MAX_IDS_BYTES ? ids : null,
  at: Date.now(),
});

/** Null for what is none: the roads that messages come on are open to others. */
export function readAnnouncement(text: string): Announcement | null {
  const value = parsed(text);
  if (!isObject(value)) return null;
  const { tenant, kind, revision, ids, at } = value;
  const named = typeof tenant === 'string' ? tenantId(tenant) : null;
  const known = KINDS.find((one) => one === kind);
  if (named === null || known === undefined || !isRevision(revision) || !isIds(ids) || !Number.isFinite(at)) return null;
  return { tenant: named, kind: known, revision, ids, at: at as number };
}

const isRevision = (value: unknown): value is number | null => value === null || (Number.isSafeInteger(value) && (value as number) >= 0);
const isIds = (value: unknown): value is readonly string[] | null => value === null || (Array.isArray(value) && value.every((id) => typeof id === 'string'));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
