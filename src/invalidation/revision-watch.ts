import { setTimeout as sleep } from 'node:timers/promises';
import type { PolicyPoint } from '../core/policy-view.js';
import { AppError } from '../platform/errors/app-error.js';
import { isDatabaseAway } from '../platform/errors/problem.js';
import { within } from '../platform/errors/within.js';
import type { Logger } from '../platform/observability/logger.js';
import type { MonotonicClock } from '../platform/readings/readings.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { KeyName, RevisionLoader, Seen } from './revision.loader.js';

/** Between two looks. With the time that a look takes it stays well below the second that a lost message may cost. */
const EVERY_MS = 200;
const TIMEOUT_MS = 1_000;
/** So many looks fail one after another before nobody else is sent to the database. */
const FAILURES = 2;

/** Something kept in memory that one look for all can find to be still so. */
export interface Confirmable<Name, Found> {
  /** What is answered from nowadays. */
  inUse(): readonly Name[];
  /** A look that began at `at` found this of what was asked for. */
  confirm(asked: readonly Name[], found: Found, at: number): void;
  /** The look failed. */
  noteFailure(asked: readonly Name[]): void;
}

/** Several that keep something under the same names, asked and told as one. */
export const together = <Name, Found>(...all: readonly Confirmable<Name, Found>[]): Confirmable<Name, Found> => ({
  inUse: () => [...new Set(all.flatMap((one) => one.inUse()))],
  confirm: (...seen) => all.forEach((one) => one.confirm(...seen)),
  noteFailure: (asked) => all.forEach((one) => one.noteFailure(asked)),
});

/** Whether others may be sent to the database. */
export interface Gate {
  isAway: boolean;
}

/**
 * The road of invalidation that needs no message: one look for everything in use, several times a second. It keeps what is
 * unchanged fresh, so that no request waits for the database, and finds what a lost message would have told.
 */
export class RevisionWatch {
  private readonly stopping = new AbortController();
  private watching: Promise<void> | null = null;
  private woken = new AbortController();
  private failures = 0;

  constructor(
    private readonly loader: RevisionLoader,
    private readonly views: Confirmable<TenantId, ReadonlyMap<TenantId, PolicyPoint>>,
    private readonly keys: Confirmable<KeyName, readonly KeyName[]>,
    private readonly gate: Gate,
    private readonly logger: Logger,
    private readonly now: MonotonicClock = () => performance.now(),
  ) {}

  start(): void {
    this.watching = this.watch();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.woken.abort();
    await this.watching;
  }

  /** Messages may have been lost just now. */
  lookSoon(): void {
    this.woken.abort();
  }

  /** One look; it never throws. */
  async look(): Promise<void> {
    const [tenants, keys] = [this.views.inUse(), this.keys.inUse()];
    if (tenants.length === 0 && keys.length === 0 && !this.gate.isAway) return;
    const at = this.now();
    try {
      this.seen(tenants, keys, await within(TIMEOUT_MS, this.loader.look(tenants, keys)), at);
    } catch (error) {
      this.failed(tenants, keys, error);
    }
  }

  private seen(tenants: readonly TenantId[], keys: readonly KeyName[], { points, keys: there }: Seen, at: number): void {
    if (this.gate.isAway) this.logger.info('the database is back');
    this.failures = 0;
    this.gate.isAway = false;
    this.views.confirm(tenants, points, at);
    this.keys.confirm(keys, there, at);
  }

  private failed(tenants: readonly TenantId[], keys: readonly KeyName[], error: unknown): void {
    this.views.noteFailure(tenants);
    this.keys.noteFailure(keys);
    // Whatever else is wrong with a look, others may have better luck.
    if (!isDatabaseAway(error) && !(error instanceof AppError)) {
      this.logger.error({ err: error }, 'a look at the revisions failed');
      return;
    }
    this.failures += 1;
    if (this.failures < FAILURES || this.gate.isAway) return;
    this.gate.isAway = true;
    this.logger.warn({ reason: error instanceof Error ? error.message : String(error) }, 'the database is away: decisions go on from what is known');
  }

  private async watch(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.woken = new AbortController();
      await this.look();
      await sleep(EVERY_MS, undefined, { signal: this.woken.signal, ref: false }).catch(() => undefined);
    }
  }
}
