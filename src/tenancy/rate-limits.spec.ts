import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import { RateLimits, WINDOW_S, rateHeaders } from './rate-limits.js';
import type { RateCount } from './rate.store.js';
import { NoRateStore, RateStore } from './rate.store.js';

const [T, U] = ['t' as TenantId, 'u' as TenantId];
const MINUTE = WINDOW_S * 1_000;

/** A store in memory that replicas share, and that can be away. */
class SharedCounts extends RateStore {
  override readonly isThere = true;
  isAway = false;
  readonly counts = new Map<string, number>();

  override add(name: string, requests: number): Promise<RateCount> {
    if (this.isAway) return Promise.reject(new Error('ECONNREFUSED'));
    const count = (this.counts.get(name) ?? 0) + requests;
    this.counts.set(name, count);
    return Promise.resolve({ count, endsInMs: MINUTE });
  }
}

function setUp(rates: { perKey?: number; perTenant?: number }, store: RateStore = new NoRateStore()) {
  const clock = { now: 1_000 };
  return { clock, metrics: new Metrics(), limits: new RateLimits({ perKey: 0, perTenant: 0, ...rates }, store, new Metrics(), () => clock.now) };
}

const isOver = (limits: RateLimits, tenant = T, key = 'k'): boolean => limits.take(tenant, key)?.isOver ?? false;

describe('limits on how often is asked', () => {
  it('are none where none is set', () => {
    const { limits } = setUp({});
    expect([limits.take(T, 'k'), limits.over(T, 'k'), rateHeaders(null)]).toEqual([null, null, []]);
  });

  it('count each key by itself, and begin anew a minute after the first request', () => {
    const { limits, clock } = setUp({ perKey: 2 });
    expect(limits.take(T, 'k')).toEqual({ limit: 2, remaining: 1, resetS: 60, isOver: false });
    clock.now += 30_500;
    expect([isOver(limits), isOver(limits), isOver(limits, T, 'other'), isOver(limits, U, 'k')]).toEqual([false, true, false, false]);
    expect(limits.take(T, 'k')).toEqual({ limit: 2, remaining: 0, resetS: 30, isOver: true });
    clock.now += 29_500;
    expect(limits.take(T, 'k')).toEqual({ limit: 2, remaining: 1, resetS: 60, isOver: false });
  });

  it('hold for all keys of a tenant together, and tell of the tighter of the two', () => {
    const { limits } = setUp({ perKey: 10, perTenant: 3 });
    expect(limits.take(T, 'a')).toMatchObject({ limit: 3, remaining: 2 });
    expect([isOver(limits, T, 'b'), isOver(limits, T, 'c'), isOver(limits, T, 'd'), isOver(limits, U, 'd')]).toEqual([false, false, true, false]);
  });

  it('say by headers when to come again', () => {
    const { limits } = setUp({ perKey: 1 });
    expect(rateHeaders(limits.take(T, 'k'))).toEqual(['ratelimit-limit', '1', 'ratelimit-remaining', '0', 'ratelimit-reset', '60']);
    expect(rateHeaders(limits.take(T, 'k'))).toEqual(['ratelimit-limit', '1', 'ratelimit-remaining', '0', 'ratelimit-reset', '60', 'retry-after', '60']);
  });

  it('let through exactly as many in any window, however the requests fall', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 }), (perKey, gaps) => {
      const { limits, clock } = setUp({ perKey });
      let windowEnds = -Infinity;
      let taken = 0;
      for (const gap of gaps) {
        clock.now += gap;
        if (clock.now >= windowEnds) [windowEnds, taken] = [clock.now + MINUTE, 0];
        const foretold = limits.over(T, 'k') !== null;
        const over = isOver(limits);
        expect([over, foretold]).toEqual([taken >= perKey, taken >= perKey]);
        if (!over) taken += 1;
      }
    }));
  });

  it('forget the oldest keys, not the newest, when there are more than can be counted', () => {
    const { limits } = setUp({ perKey: 1 });
    for (let i = 0; i < 100_001; i += 1) limits.take(T, `k${i}`);
    expect([isOver(limits, T, 'k100000'), isOver(limits, T, 'k0')]).toEqual([true, false]);
  });
});

describe('limits that replicas share', () => {
  it('hold for what all of them let through, once they have told one another', async () => {
    const store = new SharedCounts();
    const [one, other] = [setUp({ perKey: 4 }, store).limits, setUp({ perKey: 4 }, store).limits];
    expect([isOver(one), isOver(one), isOver(other), isOver(other)]).toEqual([false, false, false, false]);
    await one.share();
    await other.share();
    expect(isOver(other)).toBe(true);
    // It learns of the others when it next has something to tell.
    expect(isOver(one)).toBe(false);
    await one.share();
    expect(isOver(one)).toBe(true);
  });

  it('count nothing twice, and lose nothing that is counted on the way', async () => {
    const store = new SharedCounts();
    const { limits } = setUp({ perKey: 3 }, store);
    isOver(limits);
    const sharing = limits.share();
    expect(limits.take(T, 'k')?.remaining).toBe(1);
    await sharing;
    expect([store.counts.get('key:t:k'), limits.take(T, 'k')?.remaining, isOver(limits)]).toEqual([1, 0, true]);
    await limits.share();
    expect([store.counts.get('key:t:k'), isOver(limits)]).toEqual([3, true]);
  });

  it('are held by each replica alone while the store is away', async () => {
    const store = new SharedCounts();
    store.isAway = true;
    const { limits } = setUp({ perKey: 2 }, store);
    expect([isOver(limits), isOver(limits)]).toEqual([false, false]);
    await limits.share();
    expect(isOver(limits)).toBe(true);
  });
});
