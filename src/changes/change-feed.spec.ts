import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { following } from '../core/changes.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { PolicyPoint } from '../core/policy-view.js';
import type { Progress } from './change.store.js';
import { ChangeStore } from './change.store.js';
import { ChangeFeed } from './change-feed.js';
import type { Ending, Listener, Seat } from './channel.js';

const TENANT = 't' as TenantId;
const MOST = 8;
/** Entries of one reading. */
const PAGE = 3;

/** One tenant's history as far as the feed sees it, read at the pace of the test. */
class PacedStore extends ChangeStore {
  revision = 0;
  incarnation: string | null = 'first';
  /** Entries up to this one are removed. */
  removed = 0;
  isBroken = false;
  readings = 0;
  looks = 0;
  underWay = 0;
  mostUnderWay = 0;
  pace: () => Promise<unknown> = () => Promise.resolve();

  async points(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, PolicyPoint>> {
    this.looks += 1;
    await this.pace();
    if (this.isBroken) throw new Error('ECONNREFUSED');
    const { incarnation, revision } = this;
    return new Map(incarnation === null ? [] : tenants.map((tenant) => [tenant, { incarnation, revision }]));
  }

  override async since(_tenant: TenantId, after: number, most: number): Promise<Progress | null> {
    this.readings += 1;
    this.underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    try {
      await this.pace();
      if (this.isBroken) throw new Error('ECONNREFUSED');
      const { incarnation, revision } = this;
      const kept = Array.from({ length: Math.max(0, revision - after) }, (_, i) => after + 1 + i).filter((entry) => entry > this.removed).slice(0, PAGE);
      const changes = following(after, revision, most, kept.map((entry) => ({ revision: entry, entity: 'agent', ids: [`a${entry}`] })));
      await this.pace();
      return incarnation === null ? null : { incarnation, revision, changes };
    } finally {
      this.underWay -= 1;
    }
  }
}

interface Told {
  readonly event: string;
  readonly revision: number;
}

class Recorder implements Listener {
  readonly told: Told[] = [];
  endedBy: Ending | null = null;

  constructor(private readonly pace: () => Promise<unknown> = () => Promise.resolve()) {}

  get isOpen(): boolean {
    return this.endedBy === null;
  }

  send(frames: Buffer): void {
    for (const [, event = '', id, data = ''] of frames.toString().matchAll(/event: (\w+)\nid: (\d+)\ndata: (.*)\n\n/gu)) {
      const { revision } = JSON.parse(data) as Told;
      expect(id).toBe(String(revision));
      this.told.push({ event, revision });
    }
  }

  async drained(): Promise<void> {
    await this.pace();
  }

  end(why: Ending): void {
    this.endedBy ??= why;
  }
}

const setUp = (options: { everyMs?: number; maxStalenessMs?: number } = {}) => {
  const store = new PacedStore();
  const clock = { now: 0 };
  const feed = new ChangeFeed(store, store, new Metrics(), { most: MOST, everyMs: 60_000, maxStalenessMs: 30_000, ...options, now: () => clock.now });
  const listen = async (after: number | null = null): Promise<Recorder> => {
    const listener = new Recorder();
    (await feed.join(TENANT)).take(listener, after);
    return listener;
  };
  return { store, clock, feed, listen };
};

const revisions = (from: number, to: number): Told[] => Array.from({ length: to - from + 1 }, (_, i) => ({ event: 'revision', revision: from + i }));
const settled = () => sleep(5);
const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 400 && !holds(); tries += 1) await sleep(5);
  expect(holds()).toBe(true);
};

describe('the feed of changes', () => {
  it('tells all who listen each revision once, in order, from one reading', async () => {
    const { store, feed, listen } = setUp();
    store.revision = 4;
    const listeners = await Promise.all(Array.from({ length: 50 }, () => listen()));
    expect(store.readings).toBeLessThanOrEqual(2);
    store.readings = 0;
    store.revision = 6;
    feed.note(TENANT);
    await settled();
    expect(store.readings).toBe(1);
    for (const { told } of listeners) expect(told).toEqual(revisions(5, 6));
  });

  it('reads once at a time, and once more for all notes that come meanwhile', async () => {
    const { store, feed, listen } = setUp();
    const { told } = await listen();
    store.readings = 0;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    store.pace = () => held;
    store.revision = 1;
    for (let i = 0; i < 20; i += 1) feed.note(TENANT);
    expect(store.readings).toBe(1);
    release();
    await until(() => store.readings === 2 && store.underWay === 0);
    expect([told, store.mostUnderWay]).toEqual([revisions(1, 1), 1]);
    for (let i = 0; i < 3; i += 1) feed.note(TENANT);
    await until(() => store.readings === 4 && store.underWay === 0);
    await settled();
    expect([told, store.readings]).toEqual([revisions(1, 1), 4]);
  });

  it('tells what was missed first, reading by reading, and from then on what comes', async () => {
    const { store, feed, listen } = setUp();
    store.revision = 8;
    const all = await Promise.all([0, 0, 5, 8].map((after) => listen(after)));
    await settled();
    store.revision = 9;
    feed.note(TENANT);
    await settled();
    expect(all.map(({ told }) => told)).toEqual([revisions(1, 9), revisions(1, 9), revisions(6, 9), revisions(9, 9)]);
  });

  it('sends one resync for what is too much, kept no longer, or of another time, and goes on from there', async () => {
    const { store, feed, listen } = setUp();
    store.revision = 20;
    store.removed = 14;
    const all = await Promise.all([0, 11, 13, 14, 21, Number.MAX_SAFE_INTEGER].map((after) => listen(after)));
    await settled();
    store.revision = 21;
    feed.note(TENANT);
    await settled();
    const resynced = [{ event: 'resync', revision: 20 }, ...revisions(21, 21)];
    expect(all.map(({ told }) => told)).toEqual([resynced, resynced, resynced, revisions(15, 21), resynced, resynced]);
  });

  it('sends a resync to those who are live when more happened at once than is told one by one', async () => {
    const { store, feed, listen } = setUp();
    const { told } = await listen();
    store.revision = MOST + 1;
    feed.note(TENANT);
    await settled();
    store.revision += 1;
    feed.note(TENANT);
    await settled();
    expect(told).toEqual([{ event: 'resync', revision: MOST + 1 }, ...revisions(MOST + 2, MOST + 2)]);
  });

  it('finds what no message told of, and looks at nothing when nobody listens', async () => {
    const { store, feed } = setUp({ everyMs: 5 });
    await sleep(30);
    expect(store.looks).toBe(0);
    const listener = new Recorder();
    const seat = await feed.join(TENANT);
    seat.take(listener, null);
    store.revision = 2;
    await until(() => listener.told.length === 2);
    seat.leave();
    await sleep(20);
    const { looks } = store;
    await sleep(30);
    expect([store.looks, listener.told]).toEqual([looks, revisions(1, 2)]);
  });

  it('ends with the tenant, and one made anew under its name begins from nothing', async () => {
    const { store, listen } = setUp({ everyMs: 5 });
    store.revision = 5;
    const { told, ...first } = await listen().then((listener) => ({ told: listener.told, ended: () => listener.endedBy }));
    store.incarnation = null;
    await until(() => first.ended() === 'tenant');
    await expect(listen()).rejects.toMatchObject({ code: 'TENANT_NOT_FOUND' });
    Object.assign(store, { incarnation: 'second', revision: 1 });
    const second = await listen(0);
    await settled();
    expect([told, second.told]).toEqual([[], revisions(1, 1)]);
    Object.assign(store, { incarnation: 'third', revision: 2 });
    const third = await listen();
    expect([second.endedBy, second.told, third.isOpen]).toEqual(['tenant', revisions(1, 1), true]);
  });

  it('outlasts a database that is away for less than the bound, and tells all afterwards; beyond the bound it ends', async () => {
    const { store, clock, listen } = setUp({ everyMs: 5, maxStalenessMs: 1_000 });
    const listener = await listen();
    store.isBroken = true;
    clock.now += 900;
    await sleep(30);
    await expect(listen()).rejects.toThrow('ECONNREFUSED');
    store.revision = 3;
    store.isBroken = false;
    await until(() => listener.told.length === 3);
    expect([listener.isOpen, listener.told]).toEqual([true, revisions(1, 3)]);
    store.isBroken = true;
    clock.now += 1_100;
    await until(() => listener.endedBy === 'stale');
  });

  it('ends all who listen, and takes nobody any more, when it stops', async () => {
    const { feed, listen } = setUp();
    const listener = await listen();
    const joining = feed.join(TENANT);
    feed.stop('shutdown');
    const late = new Recorder();
    (await joining).take(late, null);
    expect([listener.endedBy, late.endedBy]).toEqual(['shutdown', 'shutdown']);
  });
});

type Action = { readonly kind: 'commit'; readonly count: number } | { readonly kind: 'remove'; readonly count: number } | { readonly kind: 'turn'; readonly count: number } | { readonly kind: 'note' } | { readonly kind: 'leave' } | { readonly kind: 'join'; readonly back: number | null };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('commit' as const), count: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.constant(MOST + 1)) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('note' as const) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('turn' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('join' as const), back: fc.option(fc.integer({ min: -1, max: 10 })) }) },
  fc.record({ kind: fc.constant('leave' as const) }),
  fc.record({ kind: fc.constant('remove' as const), count: fc.integer({ min: 1, max: 4 }) }),
);

interface Follower {
  readonly listener: Recorder;
  readonly joinedAt: number;
  readonly after: number | null;
  seat: Seat | null;
  start: number;
}

/** Walks through what was told, and answers where that leaves the listener. */
function walk({ listener, start }: Follower): number {
  let position = start;
  for (const { event, revision } of listener.told) {
    if (event === 'revision') expect(revision).toBe(position + 1);
    position = revision;
  }
  return position;
}

describe('INVARIANT (changes)', () => {
  it('whatever overtakes whatever, each listener is given every revision after its start, in order and once, or a resync', async () => {
    await fc.assert(fc.asyncProperty(fc.scheduler(), fc.array(action, { maxLength: 60 }), async (scheduler, actions) => {
      const { store, feed } = setUp();
      const pace = (): Promise<unknown> => scheduler.schedule(Promise.resolve());
      store.pace = pace;
      const followers: Follower[] = [];
      const join = (back: number | null): void => {
        const follower: Follower = { listener: new Recorder(pace), joinedAt: store.revision, after: back === null ? null : Math.max(0, store.revision - back), seat: null, start: 0 };
        followers.push(follower);
        void feed.join(TENANT).then((seat) => {
          Object.assign(follower, { seat, start: follower.after ?? seat.revision });
          expect(seat.revision).toBeGreaterThanOrEqual(follower.joinedAt);
          seat.take(follower.listener, follower.after);
        });
      };
      const leave = (follower: Follower | undefined): void => {
        follower?.listener.end('client');
        follower?.seat?.leave();
      };
      const act = async (step: Action): Promise<void> => {
        if (step.kind === 'commit') store.revision += step.count;
        else if (step.kind === 'remove') store.removed = Math.min(store.revision, store.removed + step.count);
        else if (step.kind === 'note') feed.note(TENANT);
        else if (step.kind === 'join') join(step.back);
        else if (step.kind === 'leave') leave(followers.find(({ seat, listener }) => seat !== null && listener.isOpen));
        else for (let i = 0; i < step.count && scheduler.count() > 0; i += 1) await scheduler.waitNext(1);
      };
      for (const step of actions) await act(step);
      await scheduler.waitIdle();
      feed.note(TENANT);
      await scheduler.waitIdle();
      const isPlain = !actions.some((step) => step.kind === 'remove' || (step.kind === 'commit' && step.count > 3)) && store.revision <= MOST;
      for (const follower of followers) {
        const position = walk(follower);
        if (follower.listener.isOpen) expect([follower.seat?.isLive, position]).toEqual([true, store.revision]);
        if (isPlain && (follower.after ?? 0) <= follower.joinedAt) expect(follower.listener.told.every(({ event }) => event === 'revision')).toBe(true);
      }
    }), { numRuns: 400 });
  });
});
