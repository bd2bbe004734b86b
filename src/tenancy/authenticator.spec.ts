import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '../platform/tenant-id.js';
import { digestOf, mintKey } from './api-key.js';
import { Authenticator } from './authenticator.js';
import type { KeyRecord } from './key.store.js';
import { KeyStore } from './key.store.js';

const TENANT = 't' as TenantId;
const PLATFORM_KEY = 'p'.repeat(32);

/** Finds keys; can be broken and held. */
class HeldKeys extends KeyStore {
  readonly records = new Map<string, KeyRecord>();
  readonly broken = new Set<string>();
  looks = 0;
  hold: Promise<void> = Promise.resolve();

  mint(): { keyId: string; text: string } {
    const { keyId, text } = mintKey(TENANT);
    this.records.set(keyId, { keyId, name: keyId, hash: digestOf(text), scopes: ['decide'], expiresAt: null, createdAt: new Date(0) });
    return { keyId, text };
  }

  override async find(_tenant: TenantId, keyId: string): Promise<KeyRecord | null> {
    this.looks += 1;
    const found = this.records.get(keyId) ?? null;
    const isBroken = this.broken.has(keyId);
    await this.hold;
    if (isBroken) throw new Error('ECONNREFUSED');
    return found;
  }

  override create = (): never => unused();
  override findMany = (): never => unused();
  override list = (): never => unused();
  override delete = (): never => unused();
}

function unused(): never {
  throw new Error('not asked of keys here');
}

const setUp = () => {
  const keys = new HeldKeys();
  const clock = { now: 1_000 };
  return { keys, clock, authenticator: new Authenticator(keys, PLATFORM_KEY, 30_000, () => clock.now) };
};

const REFUSED = { code: 'UNAUTHENTICATED' };

describe('the authenticator', () => {
  it('knows a key for 600 ms, the platform by its own, and nobody else', async () => {
    const { keys, clock, authenticator } = setUp();
    const { keyId, text } = keys.mint();
    expect(authenticator.fromMemory(text)).toBeNull();
    expect(await authenticator.authenticate(text)).toMatchObject({ kind: 'tenant', tenant: TENANT, keyId });
    clock.now += 599;
    expect(authenticator.fromMemory(text)).toMatchObject({ keyId });
    clock.now += 1;
    expect(authenticator.fromMemory(text)).toBeNull();
    expect(await authenticator.authenticate(PLATFORM_KEY)).toEqual({ kind: 'platform' });
    for (const wrong of ['', 'x', mintKey(TENANT).text, PLATFORM_KEY.slice(1)]) await expect(authenticator.authenticate(wrong)).rejects.toMatchObject(REFUSED);
  });

  it('takes no other secret for that of a key that it knows', async () => {
    const { keys, authenticator } = setUp();
    const { text } = keys.mint();
    await authenticator.authenticate(text);
    const wrong = `${text.slice(0, -43)}${mintKey(TENANT).text.slice(-43)}`;
    expect(authenticator.fromMemory(wrong)).toBeNull();
    await expect(authenticator.authenticate(wrong)).rejects.toMatchObject(REFUSED);
    expect(authenticator.fromMemory(text)).not.toBeNull();
  });

  it('refuses a key that was revoked elsewhere to all who come at once after an old failure', async () => {
    const { keys, clock, authenticator } = setUp();
    const { keyId, text } = keys.mint();
    await authenticator.authenticate(text);
    keys.broken.add(keyId);
    clock.now += 600;
    expect(await authenticator.authenticate(text)).toMatchObject({ keyId });
    keys.broken.clear();
    keys.records.delete(keyId);
    clock.now += 20_000;
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => authenticator.authenticate(text)));
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
  });

  it('does not take the failure of one key for that of another', async () => {
    const { keys, clock, authenticator } = setUp();
    const [failing, revoked] = [keys.mint(), keys.mint()];
    for (const { text } of [failing, revoked]) await authenticator.authenticate(text);
    keys.broken.add(failing.keyId);
    keys.records.delete(revoked.keyId);
    clock.now += 600;
    expect(await authenticator.authenticate(failing.text)).toMatchObject({ keyId: failing.keyId });
    await expect(authenticator.authenticate(revoked.text)).rejects.toMatchObject(REFUSED);
  });

  it('forgets a key that is revoked here, also while it is being looked up', async () => {
    const { keys, authenticator } = setUp();
    const { keyId, text } = keys.mint();
    let release = (): void => undefined;
    keys.hold = new Promise((resolve) => (release = resolve));
    const before = authenticator.authenticate(text);
    keys.records.delete(keyId);
    authenticator.forget(TENANT, [keyId]);
    release();
    await before;
    expect(authenticator.fromMemory(text)).toBeNull();
    await expect(authenticator.authenticate(text)).rejects.toMatchObject(REFUSED);
  });

  it('forgets the keys of a tenant that is gone and no others', async () => {
    const { keys, authenticator } = setUp();
    const { text } = keys.mint();
    await authenticator.authenticate(text);
    authenticator.forgetTenant('tt' as TenantId);
    expect(authenticator.fromMemory(text)).not.toBeNull();
    authenticator.forgetTenant(TENANT);
    expect(authenticator.fromMemory(text)).toBeNull();
  });

  it('asks the database once for many who bring the same key', async () => {
    const { keys, authenticator } = setUp();
    const { text } = keys.mint();
    await Promise.all(Array.from({ length: 50 }, () => authenticator.authenticate(text)));
    expect(keys.looks).toBeLessThanOrEqual(2);
  });

  it('knows a key for as long as looks for all find it there, and no longer', async () => {
    const { keys, clock, authenticator } = setUp();
    const [kept, revoked] = [keys.mint(), keys.mint()];
    for (const { text } of [kept, revoked]) await authenticator.authenticate(text);
    clock.now += 500;
    const asked = authenticator.inUse();
    expect(asked).toHaveLength(2);
    authenticator.confirm(asked, asked.filter(({ keyId }) => keyId === kept.keyId), clock.now);
    keys.records.delete(revoked.keyId);
    expect([authenticator.fromMemory(kept.text), authenticator.fromMemory(revoked.text)]).toEqual([expect.objectContaining({ keyId: kept.keyId }), null]);
    clock.now += 500;
    expect(authenticator.fromMemory(kept.text)).not.toBeNull();
    await expect(authenticator.authenticate(revoked.text)).rejects.toMatchObject(REFUSED);
    expect(keys.looks).toBe(3);
  });
});
