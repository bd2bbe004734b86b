import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { PolicyPoint } from '../core/policy-view.js';
import { createLogger } from '../platform/observability/logger.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { KeyName, Seen } from './revision.loader.js';
import { RevisionLoader } from './revision.loader.js';
import type { Confirmable } from './revision-watch.js';
import { RevisionWatch } from './revision-watch.js';

const TENANT = 't' as TenantId;
const POINT: PolicyPoint = { incarnation: 'i', revision: 3 };

class HeldLoader extends RevisionLoader {
  looks = 0;
  broken = false;
  code = 'ECONNREFUSED';
  override points = (): never => { throw new Error('not asked here'); };

  override async look(tenants: readonly TenantId[], keys: readonly KeyName[]): Promise<Seen> {
    this.looks += 1;
    if (this.broken) throw Object.assign(new Error('away'), { code: this.code });
    return { points: new Map(tenants.map((tenant) => [tenant, POINT])), keys };
  }
}

class Kept<Name, Found> implements Confirmable<Name, Found> {
  names: Name[];
  readonly confirmed: { asked: readonly Name[]; found: Found; at: number }[] = [];
  failures = 0;

  constructor(...names: Name[]) {
    this.names = names;
  }

  inUse = (): readonly Name[] => this.names;
  confirm = (asked: readonly Name[], found: Found, at: number): void => void this.confirmed.push({ asked, found, at });
  noteFailure = (): void => void (this.failures += 1);
}

const setUp = () => {
  const loader = new HeldLoader();
  const views = new Kept<TenantId, ReadonlyMap<TenantId, PolicyPoint>>(TENANT);
  const keys = new Kept<KeyName, readonly KeyName[]>({ tenant: TENANT, keyId: 'k' });
  const gate = { isAway: false };
  const clock = { now: 100 };
  const watch = new RevisionWatch(loader, views, keys, gate, createLogger('silent'), () => clock.now);
  return { loader, views, keys, gate, clock, watch };
};

describe('the revision watch', () => {
  let running: RevisionWatch | null = null;
  afterEach(() => running?.stop());

  it('looks once for all that is in use, and tells when the look began', async () => {
    const { loader, views, keys, clock, watch } = setUp();
    clock.now = 250;
    await watch.look();
    expect(loader.looks).toBe(1);
    expect(views.confirmed).toEqual([{ asked: [TENANT], found: new Map([[TENANT, POINT]]), at: 250 }]);
    expect(keys.confirmed).toEqual([{ asked: keys.names, found: keys.names, at: 250 }]);
  });

  it('leaves the database alone while nothing is in use', async () => {
    const { loader, views, keys, watch } = setUp();
    views.names = [];
    keys.names = [];
    await watch.look();
    expect(loader.looks).toBe(0);
  });

  it('keeps others from a database that failed twice, and goes on looking until it is back', async () => {
    const { loader, views, keys, gate, watch } = setUp();
    loader.broken = true;
    await watch.look();
    expect([gate.isAway, views.failures, keys.failures]).toEqual([false, 1, 1]);
    await watch.look();
    expect(gate.isAway).toBe(true);
    views.names = [];
    keys.names = [];
    await watch.look();
    expect([gate.isAway, loader.looks]).toEqual([true, 3]);
    loader.broken = false;
    await watch.look();
    expect([gate.isAway, loader.looks]).toEqual([false, 4]);
    expect(views.confirmed).toHaveLength(1);
  });

  it('does not take a look that failed for another reason for a database that is away', async () => {
    const { loader, views, gate, watch } = setUp();
    loader.broken = true;
    loader.code = '42501';
    for (let i = 0; i < 5; i += 1) await watch.look();
    expect([gate.isAway, views.failures]).toEqual([false, 5]);
  });

  it('looks again and again, and at once when messages may have been lost', async () => {
    const { loader, watch } = setUp();
    running = watch;
    watch.start();
    await sleep(20);
    expect(loader.looks).toBe(1);
    watch.lookSoon();
    await sleep(20);
    expect(loader.looks).toBe(2);
    for (let tries = 0; tries < 100 && loader.looks < 4; tries += 1) await sleep(50);
    expect(loader.looks).toBeGreaterThanOrEqual(4);
  });
});
