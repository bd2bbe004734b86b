import type { PolicyPoint } from '../core/policy-view.js';
import type { TenantId } from '../platform/tenant-id.js';

/** A key by the names that it carries. */
export interface KeyName {
  readonly tenant: TenantId;
  readonly keyId: string;
}

/** Tells of many tenants at once where each stands, and of many keys whether they are there. It reads nothing else. */
export abstract class RevisionLoader {
  /** Those of the tenants that there are. */
  abstract points(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, PolicyPoint>>;
  /** Both, for one look; keys that are gone are left out. */
  abstract look(tenants: readonly TenantId[], keys: readonly KeyName[]): Promise<Seen>;
}

export interface Seen {
  readonly points: ReadonlyMap<TenantId, PolicyPoint>;
  readonly keys: readonly KeyName[];
}
