import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.js';
import { AppError } from '../errors/app-error.js';
import type { Metrics } from './metrics.js';

const PING_TIMEOUT_MS = 1_000;

export interface ReadyState {
  /** `degraded`: decisions go on from what is known, and writes do not. */
  readonly status: 'ready' | 'degraded';
  readonly database: 'up' | 'unreachable';
}

/** Looks anew every time, so it never latches either way. */
export class Readiness {
  private lastUpAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
    private readonly maxStalenessMs: number,
  ) {}

  /** Throws `DATABASE_UNAVAILABLE` when answers would be too stale to give. */
  async check(): Promise<ReadyState> {
    if (!this.database.isReady) throw new AppError('DATABASE_UNAVAILABLE', 'the database is not there yet, or its migrations are not applied');
    const up = await Promise.race([this.database.ping().then(() => true, () => false), sleep(PING_TIMEOUT_MS, false, { ref: false })]);
    this.metrics.databaseUp.set(up ? 1 : 0);
    if (up) this.lastUpAt = performance.now();
    if (performance.now() - this.lastUpAt > this.maxStalenessMs) throw new AppError('DATABASE_UNAVAILABLE', 'the database can not be reached');
    return up ? { status: 'ready', database: 'up' } : { status: 'degraded', database: 'unreachable' };
  }
}
