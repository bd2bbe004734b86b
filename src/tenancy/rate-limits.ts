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

type Counted = { readonly name: string; readonly window: Window } | null;

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
    const { perKey, perTenant } = this.rates;
    if (!this.hasLimits) return null;
    const now = this.now();
    const [key, all] = this.windowsOf(tenant, keyId, now);
    const over = overOf([isSpent(key, perKey), isSpent(all, perTenant)]);
    if (over === null) {
      this.count(key);
      this.count(all);
    } else this.metrics.limitedRequests.of(tenant, over).inc();
    return tightest([standing(key, perKey, now, over === 'key'), standing(all, perTenant, now, over === 'tenant')]);
  }

  /** The limit that the next request is over, null where it is over none; counts nothing. */
  over(tenant: TenantId, keyId: string): Standing | null {
    if (!this.hasLimits) return null;
    const { perKey, perTenant } = this.rates;
    const now = this.now();
    const [key, all] = this.windowsOf(tenant, keyId, now);
    if (isSpent(key, perKey)) return standing(key, perKey, now, true);
    return isSpent(all, perTenant) ? standing(all, perTenant, now, true) : null;
  }

  /** Adds what was counted here to what all have counted. */
  async share(): Promise<void> {
    this.sharing = null;
    const names = [...this.unshared];
    this.unshared.clear();
    await Promise.all(names.map(([name, window]) => this.shareOne(name, window)));
  }

  stop(): void {
    if (this.sharing !== null) clearTimeout(this.sharing);
  }

  private get hasLimits(): boolean {
    return this.rates.perKey > 0 || this.rates.perTenant > 0;
  }

  private windowsOf(tenant: TenantId, keyId: string, now: number): readonly [key: Counted, all: Counted] {
    return [this.windowOf(`key:${tenant}:${keyId}`, this.rates.perKey, now), this.windowOf(`tenant:${tenant}`, this.rates.perTenant, now)];
  }

  private windowOf(name: string, limit: number, now: number): Counted {
    if (limit === 0) return null;
    const known = this.windows.get(name);
    if (known !== undefined && now < known.endsAt) return { name, window: known };
    const window = { endsAt: now + WINDOW_S * 1_000, shared: 0, sent: 0, own: 0 };
    this.windows.set(name, window);
    return { name, window };
  }

  private count(counted: Counted): void {
    if (counted === null) return;
    counted.window.own += 1;
    if (!this.store.isThere) return;
    this.unshared.set(counted.name, counted.window);
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

const used = ({ shared, sent, own }: Window): number => shared + sent + own;
const isSpent = (counted: Counted, limit: number): boolean => counted !== null && used(counted.window) >= limit;

const overOf = ([key, tenant]: readonly [key: boolean, tenant: boolean]): 'key' | 'tenant' | null => (key ? 'key' : tenant ? 'tenant' : null);

function standing(counted: Counted, limit: number, now: number, isOver: boolean): Standing | null {
  if (counted === null) return null;
  const { window } = counted;
  return { limit, remaining: Math.max(0, limit - used(window)), resetS: Math.max(1, Math.ceil((window.endsAt - now) / 1_000)), isOver };
}

function tightest(standings: readonly (Standing | null)[]): Standing | null {
  const there = standings.filter((one) => one !== null);
  return there.find(({ isOver }) => isOver) ?? there.sort((a, b) => a.remaining - b.remaining)[0] ?? null;
}

/** Names and values in turn; none where there is no limit. */
export function rateHeaders(standing: Standing | null): string[] {
  if (standing === null) return [];
  const { limit, remaining, resetS, isOver } = standing;
  const headers = ['ratelimit-limit', String(limit), 'ratelimit-remaining', String(remaining), 'ratelimit-reset', String(resetS)];
  return isOver ? [...headers, 'retry-after', String(resetS)] : headers;
}

export const tooManyRequests = ({ limit, resetS }: Standing): AppError =>
  new AppError('TOO_MANY_REQUESTS', `more than ${limit} requests in a minute: the next one is answered in ${resetS} s`);
