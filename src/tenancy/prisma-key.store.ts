import { announcementOf } from '../platform/announcement.js';
import { announce } from '../platform/database/announce.js';
import type { Database } from '../platform/database/database.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { KeyRecord } from './key.store.js';
import { KeyStore } from './key.store.js';
import type { Scope } from './scope.js';

interface KeyRow extends Omit<KeyRecord, 'scopes'> {
  readonly scopes: string[];
}

const keyRecord = ({ keyId, name, hash, scopes, expiresAt, createdAt }: KeyRow): KeyRecord => ({ keyId, name, hash, scopes: scopes as Scope[], expiresAt, createdAt });

export class PrismaKeyStore extends KeyStore {
  constructor(private readonly database: Database) {
    super();
  }

  override create(tenantId: TenantId, { keyId, name, hash, scopes, expiresAt }: Omit<KeyRecord, 'createdAt'>): Promise<KeyRecord> {
    const data = { tenantId, keyId, name, hash: new Uint8Array(hash), scopes: [...scopes], expiresAt };
    return this.database.inTenant(tenantId, async (tx) => keyRecord(await tx.apiKey.create({ data })));
  }

  override find(tenantId: TenantId, keyId: string): Promise<KeyRecord | null> {
    return this.database.inTenant(tenantId, async (tx) => {
      const row = await tx.apiKey.findUnique({ where: { tenantId_keyId: { tenantId, keyId } } });
      return row && keyRecord(row);
    });
  }

  override findMany(tenantId: TenantId, keyIds: readonly string[]): Promise<readonly KeyRecord[]> {
    return this.database.inTenant(tenantId, async (tx) => (await tx.apiKey.findMany({ where: { tenantId, keyId: { in: [...keyIds] } } })).map(keyRecord));
  }

  override list(tenantId: TenantId, after: string | null, limit: number): Promise<readonly KeyRecord[]> {
    const where = { tenantId, ...(after === null ? {} : { keyId: { gt: after } }) };
    return this.database.inTenant(tenantId, async (tx) => (await tx.apiKey.findMany({ where, orderBy: { keyId: 'asc' }, take: limit })).map(keyRecord));
  }

  override delete(tenantId: TenantId, keyId: string): Promise<boolean> {
    return this.database.inTenant(tenantId, async (tx) => {
      const { count } = await tx.apiKey.deleteMany({ where: { tenantId, keyId } });
      if (count > 0) await announce(tx, announcementOf(tenantId, 'key', null, [keyId]));
      return count > 0;
    });
  }
}
