import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { TenantId } from '../platform/tenant-id.js';
import { AccessWatch } from './access-watch.js';
import type { Principal } from './authenticator.js';
import type { KeyRecord } from './key.store.js';
import { KeyStore } from './key.store.js';

/** Finds keys by tenant; can be broken. */
class WatchedKeys extends KeyStore {
  readonly records = new Map<string, KeyRecord>();
  isBroken = false;
  looks = 0;

  mint(keyId: string, expiresAt: Date | null = null): void {
    this.records.set(keyId, { keyId, name: keyId, hash: new Uint8Array(), scopes: ['decide'], expiresAt, createdAt: new Date(0) });
  }

  override async findMany(_tenant: TenantId, keyIds: readonly string[]): Promise<readonly KeyRecord[]> {
    this.looks += 1;
    if (this.isBroken) throw new Error('ECONNREFUSED');
    return keyIds.flatMap((keyId) => this.records.get(keyId) ?? []);
  }

  override create = (): never => unused();
  override find = (): never => unused();
  override list = (): never => unused();
  override delete = (): never => unused();
}

function unused(): never {
  throw new Error('not asked of keys here');
}

const principal = (keyId: string, tenant = 't'): Principal => ({ kind: 'tenant', tenant: tenant as TenantId, keyId, keyName: keyId, scopes: new Set() });

/** Until what is there now has been looked at, and judged. */
async function round(keys: WatchedKeys): Promise<void> {
  const { looks } = keys;
  while (keys.looks < looks + 4) await sleep(2);
}

describe('the watch over keys', () => {
  let stop = (): void => undefined;
  afterEach(() => stop());
  const setUp = (maxStalenessMs = 1_000) => {
    const keys = new WatchedKeys();
    const clock = { now: 0 };
    const watch = new AccessWatch(keys, { maxStalenessMs, everyMs: 5, now: () => clock.now });
    stop = () => watch.onModuleDestroy();
    const ended: string[] = [];
    const over = (keyId: string, tenant?: string): (() => void) => watch.watch({ principal: principal(keyId, tenant) }, (why) => ended.push(`${keyId} ${why}`));
    return { keys, clock, watch, ended, over };
  };

  it('ends what a revoked or expired key opened, and nothing else, with one statement for each tenant', async () => {
    const { keys, watch, ended, over } = setUp();
    for (const keyId of ['stays', 'goes', 'expires', 'elsewhere']) keys.mint(keyId);
    const unwatch = ['stays', 'goes', 'expires'].map((keyId) => over(keyId));
    unwatch.push(over('elsewhere', 'other'));
    watch.watch({ principal: { kind: 'platform' } }, () => ended.push('platform'));
    await round(keys);
    expect(ended).toEqual([]);
    keys.records.delete('goes');
    await round(keys);
    expect(new Set(ended)).toEqual(new Set(['goes key']));
    unwatch[1]?.();
    keys.mint('expires', new Date(Date.now() - 1));
    await round(keys);
    expect(new Set(ended)).toEqual(new Set(['goes key', 'expires key']));
    for (const end of unwatch) end();
    await sleep(30);
    const { looks } = keys;
    await sleep(30);
    expect(keys.looks).toBe(looks);
  });

  it.each([0, 1_000])('lets streams live while nothing can be known for no longer than %i ms', async (bound) => {
    const { keys, clock, ended, over } = setUp(bound);
    keys.mint('known');
    over('known');
    await round(keys);
    keys.isBroken = true;
    clock.now += bound;
    await round(keys);
    expect(ended).toEqual([]);
    clock.now += 1;
    await round(keys);
    expect(new Set(ended)).toEqual(new Set(['known stale']));
  });

  it('ends a stream whose key expires while nothing can be known', async () => {
    const { keys, ended, over } = setUp();
    const expiresAt = Date.now() + 300;
    keys.mint('expires', new Date(expiresAt));
    over('expires');
    await round(keys);
    keys.isBroken = true;
    while (Date.now() <= expiresAt) await sleep(10);
    await round(keys);
    expect(new Set(ended)).toEqual(new Set(['expires key']));
  });
});
