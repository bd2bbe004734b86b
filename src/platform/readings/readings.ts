import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { AppError } from '../errors/app-error.js';

/** After a failed look the next one is not begun for this long. */
const RETRY_MS = 500;
/** A failure counts as the present state for this long, which is longer than one request may wait for several looks. */
const NEWS_MS = 10_000;
/** Who has something to answer from waits no longer than this for a look, counted from its beginning: a hung database is none that answers. */
const PATIENCE_MS = 1_000;
/** What was asked for within this time is in use: it is kept fresh by looks that nobody waits for. */
const IN_USE_MS = 10_000;

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
  /** Whether a value that is asked for past half of its time is read anew meanwhile. Left out: no, for it is confirmed from outside. */
  readonly readsAhead?: boolean;
  /** Told of what is kept no longer. */
  readonly putOut?: (key: K) => void;
  readonly now?: MonotonicClock;
}

interface Kept<V> {
  readonly value: V | null;
  /** When the look that found or confirmed it began: it holds all that had committed by then. */
  checkedAt: number;
  /** When it was last asked for. */
  usedAt: number;
  /** Whether something was written since that look began, here or elsewhere. */
  isDirty: boolean;
  /** Whether it was written here: then nobody is answered from before that write to save time. */
  isOverwritten: boolean;
  /** When a later look failed. */
  failedAt: number;
}

interface Look<V> {
  readonly beganAt: number;
  found: Promise<V | null>;
  isDirty: boolean;
  /** Of those who came while this one was under way: it begins when this one ends. */
  next: Promise<V | null> | null;
}

const NOTHING_YET = Promise.resolve(null);
const LATE = Symbol('late');

/**
 * Values of the database, each read once for all who ask and answered from for a while.
 *
 * INVARIANT (freshness): what is served as fresh holds every write of this process that had committed when it was asked for,
 * and every write of other processes that had committed `freshMs` before. Anything older is served only while looks fail or are
 * late, is told as stale, and is never older than `maxStalenessMs`.
 */
export class Readings<K extends string, V extends object> {
  private readonly kept: LRUCache<K, Kept<V>>;
  private readonly looks = new Map<K, Look<V>>();
  private readonly now: MonotonicClock;

  constructor(private readonly options: ReadingsOptions<K, V>) {
    const { maxSize, sizeOf = () => 1, now = () => performance.now() } = options;
    this.kept = new LRUCache({
      maxSize,
      // One that is larger than all that may be kept puts everything else out, but is kept itself: it would be read for every request.
      sizeCalculation: ({ value }) => (value === null ? 1 : Math.min(maxSize, sizeOf(value))),
      dispose: (_kept, key, reason) => {
        if (reason !== 'set') options.putOut?.(key);
      },
    });
    this.now = now;
  }

  /** The fresh value, null when there is none, undefined when the database must be asked first: the hot path. */
  hot(key: K): V | null | undefined {
    const kept = this.kept.get(key);
    return kept !== undefined && this.serves(key, kept) ? kept.value : undefined;
  }

  /** Whether something was read under the key, however long ago. */
  has(key: K): boolean {
    return this.kept.peek(key) !== undefined;
  }

  /** What is there; the last that was read while looks are failing, within the bound on staleness. */
  async current(key: K): Promise<Reading<V>> {
    const kept = this.kept.get(key);
    if (kept !== undefined && this.serves(key, kept)) return { value: kept.value, staleForMs: 0 };
    if (kept === undefined || kept.isOverwritten || !this.isWithinBound(kept)) return this.orLast(key, this.recent(key));
    return this.isFailing(kept) ? this.whileFailing(key, kept) : this.orLast(key, this.inPatience(key));
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
    const kept = this.soil(key);
    // It got through, so the database is there.
    if (kept === undefined) return;
    kept.failedAt = -Infinity;
    kept.isOverwritten = true;
  }

  /** Writes may have committed under any of these keys. */
  noteWrites(isMeant: (key: K) => boolean): void {
    for (const key of new Set([...this.looks.keys(), ...this.kept.keys()])) if (isMeant(key)) this.noteWrite(key);
  }

  /** What was read, or is being read, under these keys is answered to nobody who asks from now on. */
  forget(isMeant: (key: K) => boolean): void {
    this.forgetThese([...this.looks.keys(), ...this.kept.keys()].filter(isMeant));
  }

  /** As {@link forget}, by their keys. */
  forgetThese(keys: readonly K[]): void {
    for (const key of keys) {
      this.looks.delete(key);
      this.kept.delete(key);
    }
  }

  /** What is in use, to be confirmed from outside. */
  inUse(): K[] {
    const since = this.now() - IN_USE_MS;
    const keys: K[] = [];
    for (const [key, { usedAt }] of this.kept.entries()) if (usedAt > since) keys.push(key);
    return keys;
  }

  /** The last value that was read, whatever its age. */
  last(key: K): V | null {
    return this.kept.peek(key)?.value ?? null;
  }

  /** A look from outside that began at `checkedAt` found that this value is what there is. */
  confirm(key: K, value: V, checkedAt: number): void {
    const kept = this.kept.peek(key);
    if (kept?.value !== value || kept.isDirty || checkedAt <= kept.checkedAt) return;
    kept.checkedAt = checkedAt;
    kept.failedAt = -Infinity;
  }

  /** A look from outside failed: nobody waits for another one to find that out. */
  noteFailure(keys: readonly K[]): void {
    const failedAt = this.now();
    for (const key of keys) {
      const kept = this.kept.peek(key);
      if (kept !== undefined) kept.failedAt = failedAt;
    }
  }

  /** Something was written elsewhere: what was read before is not fresh, and is read anew at once where it is in use. Never rejects. */
  async refresh(key: K): Promise<void> {
    const kept = this.soil(key);
    if (kept !== undefined && this.now() - kept.usedAt < IN_USE_MS) await this.fresh(key).catch(() => undefined);
  }

  /** What was read, or is being read, is not fresh any more. */
  private soil(key: K): Kept<V> | undefined {
    const look = this.looks.get(key);
    if (look !== undefined) look.isDirty = true;
    const kept = this.kept.peek(key);
    if (kept !== undefined) kept.isDirty = true;
    return kept;
  }

  /** Whether it is fresh; notes that it is in use. */
  private serves(key: K, kept: Kept<V>): boolean {
    const now = this.now();
    const { freshMs, readsAhead = false } = this.options;
    const age = now - kept.checkedAt;
    kept.usedAt = now;
    if (kept.isDirty || age >= freshMs) return false;
    if (readsAhead && age >= freshMs / 2 && !this.looks.has(key) && now - kept.failedAt >= RETRY_MS) this.begin(key).catch(() => undefined);
    return true;
  }

  /** What a look finds that is as recent as a fresh value: one under way is, unless a write has overtaken it. */
  private recent(key: K): Promise<V | null> {
    const look = this.looks.get(key);
    return look !== undefined && !look.isDirty && this.now() - look.beganAt < this.options.freshMs ? look.found : this.fresh(key);
  }

  /** What a look finds, and the last value where it fails or is late. */
  private async orLast(key: K, look: Promise<V | null | typeof LATE>): Promise<Reading<V>> {
    const found = await look.catch((error: unknown): typeof LATE => {
      if (!this.has(key)) throw error;
      return LATE;
    });
    if (found !== LATE) return { value: found, staleForMs: 0 };
    const last = this.kept.get(key);
    // What was forgotten meanwhile is served to nobody.
    return last === undefined ? { value: await this.fresh(key), staleForMs: 0 } : this.stale(last);
  }

  /** What a look finds, unless it takes too long. */
  private async inPatience(key: K): Promise<V | null | typeof LATE> {
    const found = this.recent(key);
    const left = PATIENCE_MS - (this.now() - (this.looks.get(key)?.beganAt ?? 0));
    const stop = new AbortController();
    const late = sleep(Math.max(0, left), LATE, { signal: stop.signal, ref: false });
    late.catch(() => undefined);
    found.catch(() => undefined);
    try {
      return await Promise.race([found, late]);
    } finally {
      stop.abort();
    }
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
    const look: Look<V> = { beganAt: this.now(), found: NOTHING_YET, isDirty: false, next: null };
    this.looks.set(key, look);
    look.found = this.read(key, look);
    return look.found;
  }

  private async read(key: K, look: Look<V>): Promise<V | null> {
    const checkedAt = look.beganAt;
    const isCurrent = (): boolean => this.looks.get(key) === look;
    try {
      const before = this.kept.peek(key);
      const value = await this.options.load(key, before !== undefined && this.isWithinBound(before) ? before.value : null);
      if (isCurrent()) this.keep(key, { value, checkedAt, usedAt: this.kept.peek(key)?.usedAt ?? this.now(), isDirty: look.isDirty, isOverwritten: look.isDirty, failedAt: -Infinity });
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
