import type { TenantId } from '../platform/tenant-id.js';

export interface TenantRecord {
  readonly tenantId: TenantId;
  readonly name: string;
  readonly createdAt: Date;
}

/** The platform's list of tenants. It reads nothing that belongs to one. */
export abstract class TenantStore {
  /** Null when the id is taken. */
  abstract create(tenant: TenantId, name: string): Promise<TenantRecord | null>;
  abstract exists(tenant: TenantId): Promise<boolean>;
  /** By id, those after `after`. */
  abstract list(after: string | null, limit: number): Promise<readonly TenantRecord[]>;
  /** Takes keys, catalog and agents with it. Whether there was one. */
  abstract delete(tenant: TenantId): Promise<boolean>;
}
