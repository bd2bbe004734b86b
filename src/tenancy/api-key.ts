import { hash, randomBytes } from 'node:crypto';
import type { TenantId } from '../platform/tenant-id.js';
import { tenantId } from '../platform/tenant-id.js';

/** `tck_TENANT.KEYID.SECRET`: it names its tenant, so that even the look-up of a key stays within one. */
export interface ApiKey {
  readonly tenant: TenantId;
  readonly keyId: string;
  readonly text: string;
}

const FORM = /^tck_([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{16})\.[A-Za-z0-9_-]{43}$/u;

export function mintKey(tenant: TenantId): ApiKey {
  const keyId = randomBytes(12).toString('base64url');
  return { tenant, keyId, text: `tck_${tenant}.${keyId}.${randomBytes(32).toString('base64url')}` };
}

/** Null for what can not be a key. */
export function parseKey(text: string): ApiKey | null {
  const [, tenantPart, keyId] = FORM.exec(text) ?? [];
  const tenant = tenantPart === undefined ? null : tenantId(tenantPart);
  return tenant === null || keyId === undefined ? null : { tenant, keyId, text };
}

export const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');
