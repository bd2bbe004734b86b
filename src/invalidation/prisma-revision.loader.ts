import type { PolicyPoint } from '../core/policy-view.js';
import type { Database, Transaction } from '../platform/database/database.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { KeyName, Seen } from './revision.loader.js';
import { RevisionLoader } from './revision.loader.js';

interface PointRow {
  readonly id: string;
  readonly incarnation: string;
  readonly revision: bigint;
}

interface KeyRow {
  readonly tenant_id: string;
  readonly key_id: string;
}

/** It asks although others are kept from asking: somebody has to find out when the database is back. */
const EVEN_IF_AWAY = { evenIfAway: true } as const;

export class PrismaRevisionLoader extends RevisionLoader {
  constructor(private readonly database: Database) {
    super();
  }

  override points(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, PolicyPoint>> {
    return this.database.asPlatform((tx) => pointsOf(tx, tenants));
  }

  override look(tenants: readonly TenantId[], keys: readonly KeyName[]): Promise<Seen> {
    return this.database.asPlatform(async (tx) => ({ points: await pointsOf(tx, tenants), keys: await keysOf(tx, keys) }), EVEN_IF_AWAY);
  }
}

async function pointsOf(tx: Transaction, tenants: readonly TenantId[]): Promise<Map<TenantId, PolicyPoint>> {
  const rows = await tx.$queryRaw<PointRow[]>`SELECT id, incarnation::text, revision FROM tenants WHERE id = ANY (${[...tenants]}::text[])`;
  return new Map(rows.map(({ id, incarnation, revision }) => [id as TenantId, { incarnation, revision: Number(revision) }]));
}

async function keysOf(tx: Transaction, keys: readonly KeyName[]): Promise<KeyName[]> {
  if (keys.length === 0) return [];
  const rows = await tx.$queryRaw<KeyRow[]>`
    SELECT tenant_id, key_id FROM api_keys
    WHERE (tenant_id, key_id) IN (SELECT * FROM unnest(${keys.map(({ tenant }) => tenant)}::text[], ${keys.map(({ keyId }) => keyId)}::text[]))`;
  return rows.map(({ tenant_id: tenant, key_id: keyId }) => ({ tenant: tenant as TenantId, keyId }));
}
