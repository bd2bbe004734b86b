import { timingSafeEqual } from 'node:crypto';
import { invalidCredential } from '../platform/errors/app-error.js';
import { within } from '../platform/errors/within.js';
import type { MonotonicClock } from '../platform/readings/readings.js';
import { Readings } from '../platform/readings/readings.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { ApiKey } from './api-key.js';
import { digestOf, parseKey } from './api-key.js';
import type { KeyStore } from './key.store.js';
import type { People } from './people.js';
import type { Scope } from './scope.js';
import { impliedScopes } from './scope.js';
import type { PresentedToken } from './token.js';
import { parseToken } from './token.js';

/** Who asks: the platform, which may act on any tenant, or somebody of one tenant. */
export type Principal = { readonly kind: 'platform' } | TenantPrincipal;

/** One of a tenant's keys, or a person whom the issuer of tokens vouches for: the same scopes open the same routes. */
export interface TenantPrincipal {
  readonly kind: 'tenant' | 'person';
  readonly tenant: TenantId;
  /** Of a person: `person:` and who it is. */
  readonly keyId: string;
  readonly keyName: string;
  /** A person may have none. */
  readonly scopes: ReadonlySet<Scope>;
}

interface KnownKey {
  readonly principal: TenantPrincipal;
  readonly hash: Uint8Array;
  /** Milliseconds since the epoch, by the wall clock; Infinity for never. */
  readonly expiresAt: number;
}

/** A key that was revoked elsewhere works no longer than this without a look; while it is in use, looks for all keys renew it. */
const FRESH_MS = 600;
const LOOK_TIMEOUT_MS = 2_000;
/** The first look at a key has nothing to fall back on: a slow database is waited for. */
const FIRST_LOOK_TIMEOUT_MS = 10_000;
const MAX_KEYS = 10_000;

/** Neither part of a name holds a full stop. */
type KeyName = `${TenantId}.${string}`;

const nameOf = ({ tenant, keyId }: Pick<ApiKey, 'tenant' | 'keyId'>): KeyName => `${tenant}.${keyId}`;

function partsOf(name: KeyName): Pick<ApiKey, 'tenant' | 'keyId'> {
  const dot = name.indexOf('.');
  return { tenant: name.slice(0, dot) as TenantId, keyId: name.slice(dot + 1) };
}

/** A tenant's key as it can be recognised. */
export interface PresentedKey {
  readonly kind: 'key';
  readonly name: KeyName;
  readonly digest: Buffer;
}

/** What a caller of a tenant brings. No text is both. */
export type Presented = PresentedKey | PresentedToken;

/** Null for what can be neither a tenant's key nor a token. */
export function presentedAs(text: string): Presented | null {
  const key = parseKey(text);
  return key === null ? parseToken(text) : { kind: 'key', name: nameOf(key), digest: digestOf(text) };
}

/** Tells who a key belongs to, and has it told who a token speaks for. Digests are compared in constant time, so no comparison gives away how much of a key was right. */
export class Authenticator {
  private readonly platformDigest: Buffer;
  private readonly known: Readings<KeyName, KnownKey>;

  constructor(
    private readonly keys: KeyStore,
    platformKey: string,
    maxStalenessMs: number,
    now?: MonotonicClock,
    /** Null: nobody vouches for people, and no token is taken. */
    private readonly people: People | null = null,
  ) {
    this.platformDigest = digestOf(platformKey);
    // Strangers can name as many keys as they like: those that there are not put out none that there are.
    this.known = new Readings<KeyName, KnownKey>({ load: (name, before) => within(before === null ? FIRST_LOOK_TIMEOUT_MS : LOOK_TIMEOUT_MS, this.find(name)), freshMs: FRESH_MS, maxStalenessMs, maxSize: MAX_KEYS, keepsAbsent: false, ...(now && { now }) });
  }

  /** Null when the database must be asked first: then {@link authenticate} does. */
  fromMemory(text: string): Principal | null {
    const presented = presentedAs(text);
    return presented && this.recognise(presented);
  }

  /** As {@link fromMemory}, of what was read before: whether it is in force is looked up each time. */
  recognise(presented: Presented): TenantPrincipal | null {
    if (presented.kind === 'token') return this.people?.recognise(presented) ?? null;
    const { name, digest } = presented;
    const known = this.known.hot(name);
    return known ? principalOf(known, digest) : null;
  }

  /** Throws `UNAUTHENTICATED` for anything but a key or a token in force. */
  async authenticate(text: string): Promise<Principal> {
    if (timingSafeEqual(digestOf(text), this.platformDigest)) return { kind: 'platform' };
    const presented = presentedAs(text);
    const principal = presented && (presented.kind === 'key' ? await this.ofKey(presented) : await this.people?.authenticate(presented));
    if (!principal) throw invalidCredential();
    return principal;
  }

  /** Makes a revocation felt here at once; null for all keys of the tenant. */
  forget(tenant: TenantId, keyIds: readonly string[] | null): void {
    if (keyIds === null) this.forgetTenant(tenant);
    else this.known.forgetThese(keyIds.map((keyId) => nameOf({ tenant, keyId })));
  }

  forgetTenant(tenant: TenantId): void {
    this.people?.forgetTenant(tenant);
    this.known.forget((name) => partsOf(name).tenant === tenant);
  }

  /** The keys that are brought nowadays. */
  inUse(): Pick<ApiKey, 'tenant' | 'keyId'>[] {
    return this.known.inUse().map(partsOf);
  }

  /** A look that began at `at` found that these of the keys are there. A key never changes, so those are as they were. */
  confirm(asked: readonly Pick<ApiKey, 'tenant' | 'keyId'>[], there: readonly Pick<ApiKey, 'tenant' | 'keyId'>[], at: number): void {
    const found = new Set(there.map(nameOf));
    this.known.forgetThese(asked.map(nameOf).filter((name) => !found.has(name)));
    for (const name of found) {
      const key = this.known.last(name);
      if (key !== null) this.known.confirm(name, key, at);
    }
  }

  noteFailure(asked: readonly Pick<ApiKey, 'tenant' | 'keyId'>[]): void {
    this.known.noteFailure(asked.map(nameOf));
  }

  private async ofKey({ name, digest }: PresentedKey): Promise<TenantPrincipal | null> {
    return principalOf((await this.known.current(name)).value, digest);
  }

  private async find(name: KeyName): Promise<KnownKey | null> {
    const { tenant, keyId } = partsOf(name);
    const record = await this.keys.find(tenant, keyId);
    if (record === null) return null;
    const principal: TenantPrincipal = { kind: 'tenant', tenant, keyId, keyName: record.name, scopes: impliedScopes(record.scopes) };
    return { principal, hash: record.hash, expiresAt: record.expiresAt?.getTime() ?? Infinity };
  }
}

/** Null for no key, another key of that id, and one that has expired. */
function principalOf(known: KnownKey | null, digest: Buffer): TenantPrincipal | null {
  return known !== null && timingSafeEqual(known.hash, digest) && known.expiresAt > Date.now() ? known.principal : null;
}
