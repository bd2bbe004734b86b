import { announcementOf } from '../platform/announcement.js';
import { announce } from '../platform/database/announce.js';
import type { Database } from '../platform/database/database.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { TenantRecord } from './tenant.store.js';
import { TenantStore } from './tenant.store.js';

interface TenantRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

const COLUMNS = { id: true, name: true, createdAt: true } as const;

const tenantRecord = ({ id, name, createdAt }: TenantRow): TenantRecord => ({ tenantId: id as TenantId, name, createdAt });

export class PrismaTenantStore extends TenantStore {
  constructor(private readonly database: Database) {
    super();
  }

  override create(tenantId: TenantId, name: string): Promise<TenantRecord | null> {
    return this.database.asPlatform(async (tx) => {
      const [row] = await tx.tenant.createManyAndReturn({ data: [{ id: tenantId, name }], select: COLUMNS, skipDuplicates: true });
      if (row === undefined) return null;
      await announce(tx, announcementOf(tenantId, 'tenant', null, []));
      return tenantRecord(row);
    });
  }

  override exists(tenantId: TenantId): Promise<boolean> {
    return this.database.asPlatform(async (tx) => (await tx.tenant.count({ where: { id: tenantId } })) > 0);
  }

  override list(after: string | null, limit: number): Promise<readonly TenantRecord[]> {
    const where = after === null ? {} : { id: { gt: after } };
    return this.database.asPlatform(async (tx) => (await tx.tenant.findMany({ where, orderBy: { id: 'asc' }, take: limit, select: COLUMNS })).map(tenantRecord));
  }

  override delete(tenantId: TenantId): Promise<boolean> {
    return this.database.asPlatform(async (tx) => {
      const { count } = await tx.tenant.deleteMany({ where: { id: tenantId } });
      if (count > 0) await announce(tx, announcementOf(tenantId, 'tenant', null, []));
      return count > 0;
    });
  }
}
