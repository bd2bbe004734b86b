import type { TenantId } from '../platform/tenant-id.js';
import type { Scope } from './scope.js';

/** A key as it is stored: never itself, only what proves it. */
export interface KeyRecord {
  readonly keyId: string;
  readonly name: string;
  /** SHA-256 of the whole key; its secret has 256 bits, so nothing slower is needed. */
  readonly hash: Uint8Array;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
}

export abstract class KeyStore {
  abstract create(tenant: TenantId, key: Omit<KeyRecord, 'createdAt'>): Promise<KeyRecord>;
  abstract find(tenant: TenantId, keyId: string): Promise<KeyRecord | null>;
  /** Those of the ids that there are, in no particular order. */
  abstract findMany(tenant: TenantId, keyIds: readonly string[]): Promise<readonly KeyRecord[]>;
  /** By `keyId`, those after `after`. */
  abstract list(tenant: TenantId, after: string | null, limit: number): Promise<readonly KeyRecord[]>;
  /** Whether there was one. */
  abstract delete(tenant: TenantId, keyId: string): Promise<boolean>;
}
