import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.js';
import { AppError } from '../errors/app-error.js';
import type { Metrics } from './metrics.js';

const PING_TIMEOUT_MS = 1_000;

export interface ReadyState {
  /** `degraded`: something is away, and decisions go on; without the database writes do not. */
  readonly status: 'ready' | 'degraded';
  readonly database: 'up' | 'unreachable';
  /** `off`: none is configured. Nothing that is answered depends on it. */
  readonly redis: 'up' | 'unreachable' | 'off';
}

/** Looks anew every time, so it never latches either way. */
export class Readiness {
  private lastUpAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
    private readonly maxStalenessMs: number,
    private readonly redis: { readonly isReachable: boolean } | null,
  ) {}

  /** Throws `DATABASE_UNAVAILABLE` when answers would be too stale to give. */
  async check(): Promise<ReadyState> {
    if (!this.database.isReady) throw new AppError('DATABASE_UNAVAILABLE', this.database.notReadyBecause);
    // Nobody is sent to a database that looks have found away, though a ping may get through before the next look.
    const up = !this.database.isAway && await Promise.race([this.database.ping().then(() => true, () => false), sleep(PING_TIMEOUT_MS, false, { ref: false })]);
    this.metrics.databaseUp.set(up ? 1 : 0);
    if (up) this.lastUpAt = performance.now();
    if (performance.now() - this.lastUpAt > this.maxStalenessMs) throw new AppError('DATABASE_UNAVAILABLE', 'the database can not be reached');
    const redis = this.redisState();
    return { status: up && redis !== 'unreachable' ? 'ready' : 'degraded', database: up ? 'up' : 'unreachable', redis };
  }

  private redisState(): ReadyState['redis'] {
    if (this.redis === null) return 'off';
    return this.redis.isReachable ? 'up' : 'unreachable';
  }
}
