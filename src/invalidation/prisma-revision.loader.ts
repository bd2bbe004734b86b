import type { PolicyPoint } from '../core/policy-view.js';
import type { Database } from '../platform/database/database.js';
import type { DatabaseLooks } from '../platform/database/looks.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { KeyName, Seen } from './revision.loader.js';
import { RevisionLoader } from './revision.loader.js';

interface PointRow {
  readonly id: string;
  readonly incarnation: string;
  readonly revision: bigint | string;
}

interface KeyRow {
  readonly tenant_id: string;
  readonly key_id: string;
}

const POINTS = 'SELECT id, incarnation::text AS incarnation, revision FROM tenants WHERE id = ANY ($1::text[])';
const KEYS = 'SELECT tenant_id, key_id FROM api_keys WHERE (tenant_id, key_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))';

export class PrismaRevisionLoader extends RevisionLoader {
  constructor(
    private readonly database: Database,
    private readonly looks: DatabaseLooks,
  ) {
    super();
  }

  override points(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, PolicyPoint>> {
    return this.database.asPlatform(async (tx) => pointsOf(await tx.$queryRawUnsafe<PointRow[]>(POINTS, [...tenants])));
  }

  override look(tenants: readonly TenantId[], keys: readonly KeyName[]): Promise<Seen> {
    return this.looks.asPlatform(async (query) => {
      const points = pointsOf(await query<PointRow>(POINTS, [tenants]));
      const there = keys.length === 0 ? [] : await query<KeyRow>(KEYS, [keys.map(({ tenant }) => tenant), keys.map(({ keyId }) => keyId)]);
      return { points, keys: there.map(({ tenant_id: tenant, key_id: keyId }) => ({ tenant: tenant as TenantId, keyId })) };
    });
  }
}

const pointsOf = (rows: readonly PointRow[]): Map<TenantId, PolicyPoint> =>
  new Map(rows.map(({ id, incarnation, revision }) => [id as TenantId, { incarnation, revision: Number(revision) }]));
