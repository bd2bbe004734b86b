import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../platform/errors/app-error.js';
import { within } from '../platform/errors/within.js';
import type { TenantId } from '../platform/tenant-id.js';
import { digestOf, parseKey } from './api-key.js';
import type { ApiKey } from './api-key.js';
import type { KeyStore } from './key.store.js';
import type { Scope } from './scope.js';
import { impliedScopes } from './scope.js';

/** Who asks: the platform, which may act on any tenant, or one of a tenant's keys. */
export type Principal = { readonly kind: 'platform' } | TenantPrincipal;

export interface TenantPrincipal {
  readonly kind: 'tenant';
  readonly tenant: TenantId;
  readonly keyId: string;
  readonly keyName: string;
  readonly scopes: ReadonlySet<Scope>;
}

interface KnownKey {
  /** Null for a key that is not, or no longer, one. */
  readonly principal: TenantPrincipal | null;
  /** Milliseconds since the epoch, by the wall clock; Infinity for never. */
  readonly expiresAt: number;
  /** When the database was asked, on a clock that never jumps. */
  readonly checkedAt: number;
}

/** A key that was revoked elsewhere works no longer than this: half of the second that is promised. */
const FRESH_MS = 500;
const LOOK_TIMEOUT_MS = 2_000;
/** After a failed look at a key the next one is not begun for this long. */
const RETRY_MS = 500;
/** A failure counts as the present state for this long, which is longer than one request may wait for several looks. */
const NEWS_MS = 10_000;

const invalid = (): AppError => new AppError('UNAUTHENTICATED', 'send a valid key as `Authorization: Bearer KEY` or `X-API-Key: KEY`');

/** Tells who a key belongs to. A key is looked up by its digest, so no comparison gives away how much of it was right. */
export class Authenticator {
  private readonly platformDigest: Buffer;
  private readonly known = new LRUCache<string, KnownKey>({ max: 10_000 });
  private readonly asking = new Map<string, Promise<KnownKey>>();
  /** When the last look failed; -Infinity when it did not. */
  private failedAt = -Infinity;

  constructor(
    private readonly keys: KeyStore,
    platformKey: string,
    private readonly maxStalenessMs: number,
  ) {
    this.platformDigest = digestOf(platformKey);
  }

  /** Null when the database must be asked first: then {@link authenticate} does. */
  fromMemory(text: string): Principal | null {
    const known = this.known.get(hash('sha256', text, 'base64'));
    return known !== undefined && performance.now() - known.checkedAt < FRESH_MS && known.expiresAt > Date.now() ? known.principal : null;
  }

  /** Throws `UNAUTHENTICATED` for anything but a key in force. */
  async authenticate(text: string): Promise<Principal> {
    const digest = digestOf(text);
    if (timingSafeEqual(digest, this.platformDigest)) return { kind: 'platform' };
    const key = parseKey(text);
    if (key === null) throw invalid();
    const { principal, expiresAt } = await this.look(key, digest);
    if (principal === null || expiresAt <= Date.now()) throw invalid();
    return principal;
  }

  /** Makes a revocation felt here at once. */
  forget(tenant: TenantId, keyId: string): void {
    for (const [digest, { principal }] of this.known.entries()) {
      if (principal?.tenant === tenant && principal.keyId === keyId) this.known.delete(digest);
    }
  }

  forgetTenant(tenant: TenantId): void {
    for (const [digest, { principal }] of this.known.entries()) {
      if (principal?.tenant === tenant) this.known.delete(digest);
    }
  }

  private async look(key: ApiKey, digest: Buffer): Promise<KnownKey> {
    const id = digest.toString('base64');
    const known = this.known.get(id);
    const now = performance.now();
    if (known !== undefined && now - known.checkedAt < FRESH_MS) return known;
    // The same bound as for decisions: a key known lately still counts while the database is away.
    const stillCounts = known !== undefined && now - known.checkedAt <= this.maxStalenessMs;
    if (stillCounts && this.isFailing(id, now)) {
      // Nobody waits for a database that failed just now: a look in the background finds out when it is back.
      if (!this.asking.has(id) && now - this.failedAt >= RETRY_MS) this.askOnce(id, key, digest).catch(() => undefined);
      return known;
    }
    try {
      return await this.askOnce(id, key, digest);
    } catch (error) {
      if (stillCounts) return known;
      throw error;
    }
  }

  /** A failure that is old news says nothing of the database now. */
  private isFailing(id: string, now: number): boolean {
    return this.failedAt !== -Infinity && (this.asking.has(id) || now - this.failedAt < NEWS_MS);
  }

  private askOnce(id: string, key: ApiKey, digest: Buffer): Promise<KnownKey> {
    const asking = this.asking.get(id) ?? this.askInTime(id, key, digest).finally(() => this.asking.delete(id));
    this.asking.set(id, asking);
    return asking;
  }

  private async askInTime(id: string, key: ApiKey, digest: Buffer): Promise<KnownKey> {
    try {
      const found = await within(LOOK_TIMEOUT_MS, this.ask(id, key, digest));
      this.failedAt = -Infinity;
      return found;
    } catch (error) {
      this.failedAt = performance.now();
      throw error;
    }
  }

  private async ask(id: string, { tenant, keyId }: ApiKey, digest: Buffer): Promise<KnownKey> {
    const checkedAt = performance.now();
    const record = await this.keys.find(tenant, keyId);
    if (record === null || !timingSafeEqual(digest, record.hash)) {
      this.known.delete(id);
      return { principal: null, expiresAt: 0, checkedAt };
    }
    const principal: TenantPrincipal = { kind: 'tenant', tenant, keyId, keyName: record.name, scopes: impliedScopes(record.scopes) };
    const fresh = { principal, expiresAt: record.expiresAt?.getTime() ?? Infinity, checkedAt };
    this.known.set(id, fresh);
    return fresh;
  }
}
