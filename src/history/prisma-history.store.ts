import type { Action, Change, Entity, EntryHead, HistoryEntry, ListedEntry } from '../core/history.js';
import { settingsOf } from '../governance/record-mapper.js';
import type { Database } from '../platform/database/database.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { HistoryFilter } from './history.store.js';
import { HistoryStore, LISTED_BYTES } from './history.store.js';

interface HeadRow {
  readonly revision: bigint;
  readonly at: Date;
  readonly key_id: string;
  readonly key_name: string;
  readonly request_id: string;
  readonly entity: string;
  readonly entity_id: string;
  readonly action: string;
  readonly reverts: bigint | null;
}

interface EntryRow extends HeadRow {
  readonly before: string | null;
  readonly after: string | null;
}

interface ListedRow extends EntryRow {
  /** Whether it is small enough for a list. */
  readonly listed: boolean;
}

const headOf = (row: HeadRow): EntryHead => ({
  revision: Number(row.revision),
  at: row.at.toISOString(),
  actor: { keyId: row.key_id, name: row.key_name },
  requestId: row.request_id,
  entity: row.entity as Entity,
  id: row.entity_id,
  action: row.action as Action,
  reverts: row.reverts === null ? null : Number(row.reverts),
});

const orNull = <T>(value: T | undefined): T | null => value ?? null;

const stateOf = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const changeOf = (row: EntryRow): Change => ({ entity: row.entity, id: row.entity_id, before: stateOf(row.before), after: stateOf(row.after) }) as Change;

export class PrismaHistoryStore extends HistoryStore {
  constructor(private readonly database: Database) {
    super();
  }

  /** The size is known without reading what is large. */
  override list(tenant: TenantId, { entity, id, actor, from, to }: HistoryFilter, before: number | null, limit: number): Promise<readonly ListedEntry[]> {
    return this.database.inTenant(tenant, async (tx) => {
      const rows = await tx.$queryRaw<ListedRow[]>`
        SELECT revision, at, key_id, key_name, request_id, entity, entity_id, action, reverts, listed,
          CASE WHEN listed THEN before END AS before, CASE WHEN listed THEN after END AS after
        FROM history, LATERAL (SELECT coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0) <= ${LISTED_BYTES} AS listed) AS size
        WHERE tenant_id = ${tenant}
          AND (${before}::bigint IS NULL OR revision < ${before}::bigint)
          AND (${orNull(entity)}::text IS NULL OR entity = ${orNull(entity)}::text)
          AND (${orNull(id)}::text IS NULL OR entity_id = ${orNull(id)}::text)
          AND (${orNull(actor)}::text IS NULL OR key_id = ${orNull(actor)}::text)
          AND (${orNull(from)}::timestamptz IS NULL OR at >= ${orNull(from)}::timestamptz)
          AND (${orNull(to)}::timestamptz IS NULL OR at <= ${orNull(to)}::timestamptz)
        ORDER BY revision DESC LIMIT ${limit}`;
      return rows.map((row) => ({ ...headOf(row), change: row.listed ? changeOf(row) : null }));
    });
  }

  override find(tenant: TenantId, revision: number): Promise<HistoryEntry | null> {
    return this.database.inTenant(tenant, async (tx) => {
      const [row] = await tx.$queryRaw<EntryRow[]>`
        SELECT revision, at, key_id, key_name, request_id, entity, entity_id, action, reverts, before, after
        FROM history WHERE tenant_id = ${tenant} AND revision = ${revision}::bigint`;
      return row === undefined ? null : { ...headOf(row), ...changeOf(row) };
    });
  }

  override sweep(tenant: TenantId, batch: number): Promise<number> {
    return this.database.inTenant(tenant, async (tx) => {
      const found = await tx.tenant.findUnique({ where: { id: tenant }, select: { settings: true } });
      if (found === null) return 0;
      const { historyRetentionDays } = settingsOf(found.settings);
      return tx.$executeRaw`
        DELETE FROM history WHERE tenant_id = ${tenant} AND revision IN (
          SELECT revision FROM history WHERE tenant_id = ${tenant} AND at < now() - make_interval(days => ${historyRetentionDays}::int)
          ORDER BY at LIMIT ${batch})`;
    });
  }
}
