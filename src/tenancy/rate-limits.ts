import { LRUCache } from 'lru-cache';
import type { Rates } from '../platform/config/config.js';
import { AppError } from '../platform/errors/app-error.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { MonotonicClock } from '../platform/readings/readings.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { RateStore } from './rate.store.js';

export const WINDOW_S = 60;
/** How long a replica counts by itself before it adds to what all have counted: by so much may all together be over a limit. */
const SHARE_MS = 100;
const MAX_WINDOWS = 100_000;

/** How one that asks stands with the tightest of its limits. */
export interface Standing {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window begins anew, at least one. */
  readonly resetS: number;
  /** The request is one too many. */
  readonly isOver: boolean;
}

interface Window {
  endsAt: number;
  /** By all replicas, as the store had it. */
  shared: number;
  /** By this one, on its way to the store. */
  sent: number;
  /** By this one, since. */
  own: number;
}

/** A limit that binds a caller, with what was counted for it. */
interface Bound {
  readonly of: 'key' | 'tenant';
  readonly limit: number;
  readonly name: string;
  readonly window: Window;
}

/**
 * How often keys and tenants may ask, in windows of a minute that begin with the first request. Every request is counted and
 * judged in this process, at once; what replicas have counted is added up in the background, so nobody ever waits for a store,
 * and where it is away each replica holds the limit by itself.
 */
export class RateLimits {
  private readonly windows = new LRUCache<string, Window>({ max: MAX_WINDOWS });
  private readonly unshared = new Map<string, Window>();
  private sharing: NodeJS.Timeout | null = null;

  constructor(
    private readonly rates: Rates,
    private readonly store: RateStore,
    private readonly metrics: Metrics,
    private readonly now: MonotonicClock = () => performance.now(),
  ) {}

  /** Counts one request, unless it is over a limit. Null where there is none. */
  take(tenant: TenantId, keyId: string): Standing | null {
    const now = this.now();
    const bounds = this.boundsOf(tenant, keyId, now);
    const spent = bounds.find(isSpent);
    if (spent !== undefined) {
      this.metrics.limitedRequests.of(tenant, spent.of).inc();
      return standingWith(spent, now);
    }
    for (const bound of bounds) this.count(bound);
    const [tightest] = bounds.sort((a, b) => left(a) - left(b));
    return tightest === undefined ? null : standingWith(tightest, now, false);
  }

  /** How the next request stands if it is over a limit, else null; counts nothing. */
  over(tenant: TenantId, keyId: string): Standing | null {
    const now = this.now();
    const spent = this.boundsOf(tenant, keyId, now).find(isSpent);
    return spent === undefined ? null : standingWith(spent, now);
  }

  /** Adds what was counted here to what all have counted. */
  async share(): Promise<void> {
    this.sharing = null;
    const names = [...this.unshared];
    this.unshared.clear();
    await Promise.all(names.map(([name, window]) => this.shareOne(name, window)));
  }

  private boundsOf(tenant: TenantId, keyId: string, now: number): Bound[] {
    const { perKey, perTenant } = this.rates;
    return [
      ...(perKey === 0 ? [] : [this.bound('key', perKey, `key:${tenant}:${keyId}`, now)]),
      ...(perTenant === 0 ? [] : [this.bound('tenant', perTenant, `tenant:${tenant}`, now)]),
    ];
  }

  private bound(of: Bound['of'], limit: number, name: string, now: number): Bound {
    const known = this.windows.get(name);
    if (known !== undefined && now < known.endsAt) return { of, limit, name, window: known };
    const window = { endsAt: now + WINDOW_S * 1_000, shared: 0, sent: 0, own: 0 };
    this.windows.set(name, window);
    return { of, limit, name, window };
  }

  private count({ name, window }: Bound): void {
    window.own += 1;
    if (!this.store.isThere) return;
    this.unshared.set(name, window);
    this.sharing ??= setTimeout(() => void this.share(), SHARE_MS).unref();
  }

  private async shareOne(name: string, window: Window): Promise<void> {
    const requests = window.own;
    window.own = 0;
    window.sent += requests;
    try {
      const { count, endsInMs } = await this.store.add(name, requests);
      window.shared = count;
      window.endsAt = this.now() + endsInMs;
    } catch {
      window.shared += requests;
    }
    window.sent -= requests;
  }
}

const left = ({ limit, window: { shared, sent, own } }: Bound): number => Math.max(0, limit - shared - sent - own);
const isSpent = (bound: Bound): boolean => left(bound) === 0;

const standingWith = (bound: Bound, now: number, isOver = true): Standing =>
  ({ limit: bound.limit, remaining: left(bound), resetS: Math.max(1, Math.ceil((bound.window.endsAt - now) / 1_000)), isOver });

/** Names and values in turn; none where there is no limit. */
export function rateHeaders(standing: Standing | null): string[] {
  if (standing === null) return [];
  const { limit, remaining, resetS, isOver } = standing;
  const headers = ['ratelimit-limit', String(limit), 'ratelimit-remaining', String(remaining), 'ratelimit-reset', String(resetS)];
  return isOver ? [...headers, 'retry-after', String(resetS)] : headers;
}

export const tooManyRequests = ({ limit, resetS }: Standing): AppError =>
  new AppError('TOO_MANY_REQUESTS', `more than ${limit} requests in a minute: the next one is answered in ${resetS} s`);
