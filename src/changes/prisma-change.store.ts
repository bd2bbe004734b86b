import { following } from '../core/changes.js';
import type { Entity } from '../core/history.js';
import type { Database } from '../platform/database/database.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { Progress } from './change.store.js';
import { ChangeStore, READING_BYTES } from './change.store.js';

interface ProgressRow {
  readonly incarnation: string;
  readonly current: bigint;
  /** Null in the one row of a tenant whose history holds nothing that was asked for. */
  readonly revision: bigint | null;
  readonly entity: string;
  readonly ids: string | null;
}

export class PrismaChangeStore extends ChangeStore {
  constructor(private readonly database: Database) {
    super();
  }

  /** One statement sees one moment: a revision that it knows of has its entry. Sizes are known without reading what is large. */
  override since(tenant: TenantId, after: number, most: number): Promise<Progress | null> {
    return this.database.inTenant(tenant, async (tx) => {
      const rows = await tx.$queryRaw<ProgressRow[]>`
        SELECT tenant.incarnation::text AS incarnation, tenant.revision AS current, entry.revision, entry.entity, entry.ids
        FROM tenants AS tenant LEFT JOIN LATERAL (
          SELECT revision, entity, ids FROM (
            SELECT revision, entity, ids, sum(coalesce(octet_length(ids), 0)) OVER (ORDER BY revision) - coalesce(octet_length(ids), 0) AS size_before
            FROM history WHERE tenant_id = ${tenant} AND revision > ${after}::bigint ORDER BY revision LIMIT ${most}::int
          ) AS sized WHERE size_before < ${READING_BYTES}::int
        ) AS entry ON tenant.revision - ${after}::bigint <= ${most}::int
        WHERE tenant.id = ${tenant} ORDER BY entry.revision`;
      const [first] = rows;
      if (first === undefined) return null;
      const kept = rows.flatMap(({ revision, entity, ids }) => (revision === null ? [] : { revision: Number(revision), entity: entity as Entity, ids: ids === null ? null : (JSON.parse(ids) as string[]) }));
      const current = Number(first.current);
      return { incarnation: first.incarnation, revision: current, changes: following(after, current, most, kept) };
    });
  }
}
