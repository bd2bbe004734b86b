import { Injectable } from '@nestjs/common';
import { unique } from '../core/json.js';
import { Announcer, announcementOf } from '../platform/announcement.js';
import { AppError } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import { digestOf, mintKey } from './api-key.js';
import { Authenticator } from './authenticator.js';
import type { KeyRecord } from './key.store.js';
import { KeyStore } from './key.store.js';
import type { Scope } from './scope.js';

export interface KeyToMint {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

@Injectable()
export class KeysService {
  constructor(
    private readonly keys: KeyStore,
    private readonly authenticator: Authenticator,
    private readonly announcer: Announcer,
  ) {}

  /** The key itself is in this answer and nowhere else. */
  async mint(tenant: TenantId, { name, scopes, expiresAt }: KeyToMint): Promise<{ record: KeyRecord; key: string }> {
    if (expiresAt !== null && expiresAt.getTime() <= Date.now()) {
      const message = '`expiresAt` must be in the future';
      throw new AppError('INVALID_REQUEST', message, [{ path: '/expiresAt', message }]);
    }
    const { keyId, text } = mintKey(tenant);
    const record = await this.keys.create(tenant, { keyId, name, scopes: unique(scopes), expiresAt, hash: digestOf(text) });
    return { record, key: text };
  }

  list(tenant: TenantId, after: string | null, limit: number): Promise<readonly KeyRecord[]> {
    return this.keys.list(tenant, after, limit);
  }

  async revoke(tenant: TenantId, keyId: string): Promise<void> {
    if (!(await this.keys.delete(tenant, keyId))) throw new AppError('KEY_NOT_FOUND', `there is no key \`${keyId}\``);
    this.authenticator.forget(tenant, [keyId]);
    this.announcer.tell(announcementOf(tenant, 'key', null, [keyId]));
  }
}
