import { LRUCache } from 'lru-cache';
import { AppError } from '../errors/app-error.js';

/** After a failed look the next one is not begun for this long. */
const RETRY_MS = 500;
/** A failure counts as the present state for this long, which is longer than one request may wait for several looks. */
const NEWS_MS = 10_000;

/** Milliseconds that never jump. */
export type MonotonicClock = () => number;

/** What a reading found; null where there is nothing under the key. */
export interface Reading<V> {
  readonly value: V | null;
  /** 0 for a fresh one, else how long ago it was certain to be current. */
  readonly staleForMs: number;
}

export interface ReadingsOptions<K extends string, V> {
  /** Reads anew, with the value that was read before where there is one. It has to end in bounded time: see `within`. */
  readonly load: (key: K, before: V | null) => Promise<V | null>;
  readonly freshMs: number;
  readonly maxStalenessMs: number;
  /** The sizes of all values together, and that of one, which is 1 when it is left out. */
  readonly maxSize: number;
  readonly sizeOf?: (value: V) => number;
  /** Whether that there is nothing is kept as well. False where anybody may ask for keys without end. */
  readonly keepsAbsent: boolean;
  readonly now?: MonotonicClock;
}

interface Kept<V> {
  readonly value: V | null;
  /** When the look that found it began: it holds all that had committed by then. */
  readonly checkedAt: number;
  /** Whether a write of this process has committed since that look began. */
  isDirty: boolean;
  /** When a later look failed. */
  failedAt: number;
}

interface Look<V> {
  found: Promise<V | null>;
  isDirty: boolean;
  /** Of those who came while this one was under way: it begins when this one ends. */
  next: Promise<V | null> | null;
}

const NOTHING_YET = Promise.resolve(null);

/**
 * Values of the database, each read once for all who ask and answered from for a while.
 *
 * INVARIANT (freshness): what is served as fresh holds every write of this process that had committed when it was asked for,
 * and every write of other processes that had committed `freshMs` before. Anything older is served only while looks are
 * failing, is told as stale, and is never older than `maxStalenessMs`.
 */
export class Readings<K extends string, V extends object> {
  private readonly kept: LRUCache<K, Kept<V>>;
  private readonly looks = new Map<K, Look<V>>();
  private readonly now: MonotonicClock;

  constructor(private readonly options: ReadingsOptions<K, V>) {
    const { maxSize, sizeOf = () => 1, now = () => performance.now() } = options;
    this.kept = new LRUCache({ maxSize, sizeCalculation: ({ value }) => (value === null ? 1 : sizeOf(value)) });
    this.now = now;
  }

  /** The fresh value, null when there is none, undefined when the database must be asked first: the hot path. */
  hot(key: K): V | null | undefined {
    const kept = this.kept.get(key);
    return kept !== undefined && this.isFresh(kept) ? kept.value : undefined;
  }

  /** What is there; the last that was read while looks are failing, within the bound on staleness. */
  async current(key: K): Promise<Reading<V>> {
    const kept = this.kept.get(key);
    if (kept !== undefined && this.isFresh(kept)) return { value: kept.value, staleForMs: 0 };
    if (kept !== undefined && this.isFailing(kept) && this.isWithinBound(kept)) return this.whileFailing(key, kept);
    try {
      return { value: await this.fresh(key), staleForMs: 0 };
    } catch (error) {
      const last = this.kept.get(key);
      if (last === undefined) throw error;
      return this.stale(last);
    }
  }

  /** What holds everything that had committed anywhere when it was asked for. */
  fresh(key: K): Promise<V | null> {
    const look = this.looks.get(key);
    if (look === undefined) return this.begin(key);
    // The one under way may have begun before what the newcomer wants to see was written.
    look.next ??= look.found.catch(() => undefined).then(() => this.looks.get(key)?.found ?? this.begin(key));
    return look.next;
  }

  /** A write of this process has committed: what was read before is not fresh, but still the base of the next reading. */
  noteWrite(key: K): void {
    const look = this.looks.get(key);
    if (look !== undefined) look.isDirty = true;
    const kept = this.kept.peek(key);
    if (kept === undefined) return;
    kept.isDirty = true;
    // It got through, so the database is there.
    kept.failedAt = -Infinity;
  }

  /** Writes may have committed under any of these keys. */
  noteWrites(isMeant: (key: K) => boolean): void {
    for (const key of new Set([...this.looks.keys(), ...this.kept.keys()])) if (isMeant(key)) this.noteWrite(key);
  }

  /** What was read, or is being read, under these keys is answered to nobody who asks from now on. */
  forget(isMeant: (key: K) => boolean): void {
    for (const key of [...this.looks.keys()].filter(isMeant)) this.looks.delete(key);
    for (const key of [...this.kept.keys()].filter(isMeant)) this.kept.delete(key);
  }

  private isFresh({ checkedAt, isDirty }: Kept<V>): boolean {
    return !isDirty && this.now() - checkedAt < this.options.freshMs;
  }

  /** A failure that is old news says nothing of the database now, nor does a look that has not ended. */
  private isFailing({ failedAt }: Kept<V>): boolean {
    return this.now() - failedAt < NEWS_MS;
  }

  /** Beyond the bound nothing is known, and the database is asked as if for the first time. */
  private isWithinBound({ checkedAt }: Kept<V>): boolean {
    return this.now() - checkedAt <= this.options.maxStalenessMs;
  }

  /** Nobody waits for a database that failed just now: a look in the background finds out when it is back. */
  private whileFailing(key: K, kept: Kept<V>): Reading<V> {
    if (!this.looks.has(key) && this.now() - kept.failedAt >= RETRY_MS) this.begin(key).catch(() => undefined);
    return this.stale(kept);
  }

  private stale(kept: Kept<V>): Reading<V> {
    if (!this.isWithinBound(kept)) throw new AppError('TOO_STALE', `the last reading is older than ${this.options.maxStalenessMs} ms`);
    return { value: kept.value, staleForMs: Math.max(1, Math.round(this.now() - kept.checkedAt)) };
  }

  private begin(key: K): Promise<V | null> {
    const look: Look<V> = { found: NOTHING_YET, isDirty: false, next: null };
    this.looks.set(key, look);
    look.found = this.read(key, look);
    return look.found;
  }

  private async read(key: K, look: Look<V>): Promise<V | null> {
    const checkedAt = this.now();
    const isCurrent = (): boolean => this.looks.get(key) === look;
    try {
      const value = await this.options.load(key, this.kept.peek(key)?.value ?? null);
      if (isCurrent()) this.keep(key, { value, checkedAt, isDirty: look.isDirty, failedAt: -Infinity });
      return value;
    } catch (error) {
      const kept = this.kept.peek(key);
      if (isCurrent() && kept !== undefined) kept.failedAt = this.now();
      throw error;
    } finally {
      if (isCurrent()) this.looks.delete(key);
    }
  }

  private keep(key: K, kept: Kept<V>): void {
    if (kept.value === null && !this.options.keepsAbsent) this.kept.delete(key);
    else this.kept.set(key, kept);
  }
}
