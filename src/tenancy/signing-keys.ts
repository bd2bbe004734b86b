import { AppError } from '../platform/errors/app-error.js';
import type { Logger } from '../platform/observability/logger.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { MonotonicClock } from '../platform/readings/readings.js';
import { Readings } from '../platform/readings/readings.js';
import type { Issuer, KeySet } from './issuer.js';

/** Known keys go on for so long while the issuer is away. Its tokens end before: it issues none meanwhile. */
const MAX_STALENESS_MS = 86_400_000;
/** After a failed look the next one is not begun for this long, whoever asks. */
const RETRY_MS = 1_000;
/** For tokens that name a key which is not known the issuer is asked no more often than this, however many come. */
const HUNT_EVERY_MS = 10_000;

const KEYS = 'keys';

const unreachable = (): AppError => new AppError('ISSUER_UNAVAILABLE', 'the issuer of tokens does not say which keys are its own: try again shortly');

export interface SigningKeysOptions {
  readonly maxAgeMs: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now?: MonotonicClock;
}

/**
 * The issuer's keys as they were read last. Nobody who brings a token of a known key waits for the issuer, but the very first:
 * they are read anew meanwhile, and while that fails the last ones go on.
 */
export class SigningKeys {
  private readonly readings: Readings<typeof KEYS, KeySet>;
  private readonly now: MonotonicClock;
  private failedAt = -Infinity;
  private huntedAt = -Infinity;
  private hunting: Promise<KeySet> | null = null;

  constructor(
    private readonly issuer: Pick<Issuer, 'keys'>,
    private readonly options: SigningKeysOptions,
  ) {
    const { maxAgeMs, now = () => performance.now() } = options;
    this.now = now;
    this.readings = new Readings<typeof KEYS, KeySet>({ load: (_, before) => this.look(before), freshMs: maxAgeMs, maxStalenessMs: Math.max(maxAgeMs, MAX_STALENESS_MS), maxSize: 1, keepsAbsent: false, readsAhead: true, now });
  }

  /** Null when the issuer must be asked first: the hot path. */
  hot(): KeySet | null {
    return this.readings.hot(KEYS) ?? null;
  }

  /** Throws `ISSUER_UNAVAILABLE` where nothing is known yet, or not any more. */
  async current(): Promise<KeySet> {
    const reading = await this.readings.current(KEYS).catch(() => null);
    return known(reading?.value ?? null);
  }

  /** What the issuer publishes now, for a token whose key is not among those known; null where it was asked just now. Throws where it can not say. */
  async hunt(): Promise<KeySet | null> {
    if (this.hunting !== null) return this.hunting;
    if (this.now() - this.huntedAt >= HUNT_EVERY_MS) {
      this.huntedAt = this.now();
      this.hunting = this.readings.fresh(KEYS).then(known).finally(() => (this.hunting = null));
      return this.hunting;
    }
    if (this.isFailing) throw unreachable();
    return null;
  }

  private get isFailing(): boolean {
    return this.failedAt > -Infinity;
  }

  private async look(before: KeySet | null): Promise<KeySet> {
    if (this.now() - this.failedAt < RETRY_MS) throw unreachable();
    try {
      const found = await this.issuer.keys(before);
      if (this.isFailing) this.options.logger.info('the issuer of tokens is back');
      this.failedAt = -Infinity;
      this.options.metrics.issuerLooks.inc({ outcome: 'ok' });
      return found;
    } catch (error) {
      if (!this.isFailing) this.options.logger.warn({ reason: reasonOf(error) }, 'the issuer of tokens does not say which keys are its own: tokens of known keys go on');
      this.failedAt = this.now();
      this.options.metrics.issuerLooks.inc({ outcome: 'failed' });
      throw unreachable();
    }
  }
}

function known(keys: KeySet | null): KeySet {
  if (keys === null) throw unreachable();
  return keys;
}

/** `fetch` keeps what went wrong in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
