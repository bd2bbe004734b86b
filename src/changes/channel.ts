import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RevisionChange } from '../core/changes.js';
import { AppError, tenantNotFound } from '../platform/errors/app-error.js';
import { within } from '../platform/errors/within.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { PolicyPoint } from '../core/policy-view.js';
import type { ChangeStore, Progress } from './change.store.js';
import { resyncFrame, revisionFrames } from './frames.js';

/** Why a stream ended. */
export type Ending = 'client' | 'slow' | 'key' | 'tenant' | 'stale' | 'failed' | 'shutdown';

/** Who is told. */
export interface Listener {
  readonly isOpen: boolean;
  /** Whole events, in order. Whoever can not keep up closes instead of holding them without end. */
  send(frames: Buffer): void;
  /** When little of what was sent is left to take in, or it has closed. */
  drained(): Promise<void>;
  end(why: Ending): void;
}

export interface ChannelOptions {
  /** Revisions that are told one by one to who has missed them; beyond, a resync is less work for both sides. */
  readonly most: number;
  readonly maxStalenessMs: number;
  readonly now: () => number;
}

const READ_TIMEOUT_MS = 2_000;
/** Listeners told before other requests get their turn. */
const TOLD_A_TURN = 250;

/** One place on a channel. */
export class Seat {
  listener: Listener | null = null;
  /** Stands where the channel stands, and is told with all others. */
  isLive = false;

  constructor(private readonly channel: Channel) {}

  /** The last revision that the channel has told. */
  get revision(): number {
    return this.channel.told;
  }

  /** From the next revision, or from the one that follows `after`. Whatever must precede the first event has been sent. */
  take(listener: Listener, after: number | null): void {
    this.listener = listener;
    this.channel.begin(this, listener, after);
  }

  leave(): void {
    this.isLive = false;
    this.channel.leave(this);
  }
}

/**
 * One tenant's changes, read once for all of this process who listen.
 *
 * INVARIANT (changes): each listener is given every revision after its start, in order and once, or a resync in their place.
 * Those who are live stand where the channel stands (`told`), which only a reading moves, one at a time; who has missed
 * something reads by itself, never beyond `told`, and is live at the very moment at which it has caught up.
 */
export class Channel {
  told = -1;
  private closedBy: Ending | null = null;
  private incarnation: string | null = null;
  private readonly seats = new Set<Seat>();
  private reading: Promise<void> | null = null;
  private nextReading: Promise<void> | null = null;
  /** Readings for those who catch up from the same place. */
  private readonly pages = new Map<number, Promise<Progress | null>>();
  /** When all that had committed was told. */
  private upToDateAt: number;

  constructor(
    private readonly tenant: TenantId,
    private readonly store: ChangeStore,
    private readonly metrics: Metrics,
    private readonly options: ChannelOptions,
    private readonly onEmpty: () => void,
  ) {
    this.upToDateAt = options.now();
  }

  get isClosed(): boolean {
    return this.closedBy !== null;
  }

  /** A place, once all that had committed by now has been told to the others. */
  async join(): Promise<Seat> {
    const seat = new Seat(this);
    this.seats.add(seat);
    try {
      await this.refresh();
    } catch (error) {
      this.leave(seat);
      throw error;
    }
    return seat;
  }

  leave(seat: Seat): void {
    if (this.seats.delete(seat) && this.seats.size === 0) this.onEmpty();
  }

  /** Resolves when all that had committed when it was called has been told. One reading at a time, and one more for all who ask meanwhile. */
  refresh(): Promise<void> {
    if (this.reading === null) return this.startReading();
    this.nextReading ??= this.reading.catch(() => undefined).then(() => {
      this.nextReading = null;
      return this.reading ?? this.startReading();
    });
    return this.nextReading;
  }

  /** Looks again where the tenant is not where it was told to be. */
  check(point: PolicyPoint | undefined, checkedAt: number): void {
    if (point !== undefined && point.incarnation === this.incarnation && point.revision === this.told) this.upToDateAt = Math.max(this.upToDateAt, checkedAt);
    else this.note();
  }

  /** There may be something new. */
  note(): void {
    this.refresh().catch(() => this.noteFailure());
  }

  /** What is silent for longer than the bound would be taken for news of nothing. */
  noteFailure(): void {
    if (this.options.now() - this.upToDateAt > this.options.maxStalenessMs) this.close('stale');
  }

  close(why: Ending): void {
    this.closedBy ??= why;
    const seats = [...this.seats];
    this.seats.clear();
    this.onEmpty();
    for (const { listener } of seats) listener?.end(why);
  }

  begin(seat: Seat, listener: Listener, after: number | null): void {
    if (this.closedBy !== null) listener.end(this.closedBy);
    else if (after === null || after === this.told) seat.isLive = true;
    else this.catchUp(seat, listener, after).catch(() => listener.end('failed'));
  }

  private startReading(): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    this.reading = this.read().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private since(after: number): Promise<Progress | null> {
    return within(READ_TIMEOUT_MS, this.store.since(this.tenant, after, this.options.most));
  }

  private async read(): Promise<void> {
    for (;;) {
      const startedAt = this.options.now();
      const found = await this.since(this.told === -1 ? Number.MAX_SAFE_INTEGER : this.told);
      if (this.isClosed) return;
      if (!this.isSame(found)) {
        this.close('tenant');
        return;
      }
      await this.advance(found);
      if (this.told !== found.revision) continue;
      this.upToDateAt = startedAt;
      return;
    }
  }

  /** Whether it is still the tenant that was there first. A new channel finds whichever there is. */
  private isSame(found: Progress | null): found is Progress {
    if (found === null && this.incarnation === null) throw tenantNotFound();
    this.incarnation ??= found?.incarnation ?? null;
    return found?.incarnation === this.incarnation;
  }

  private async advance({ revision, changes }: Progress): Promise<void> {
    const isFirst = this.told === -1;
    if (isFirst || changes === null) {
      this.told = revision;
      if (!isFirst) await this.tell(resyncFrame(revision), this.metrics.changeResyncs, 1);
      return;
    }
    const last = changes.at(-1);
    if (last === undefined) return;
    this.told = last.revision;
    await this.tell(revisionFrames(changes), this.metrics.changeEvents, changes.length);
  }

  /** Who becomes live from now on stands at the new place already. */
  private async tell(frames: Buffer, counter: Metrics['changeEvents'], events: number): Promise<void> {
    const live = [...this.seats].filter(({ isLive }) => isLive);
    counter.inc(live.length * events);
    for (const [i, { listener }] of live.entries()) {
      if (i > 0 && i % TOLD_A_TURN === 0) await nextTurn();
      listener?.send(frames);
    }
  }

  private async catchUp(seat: Seat, listener: Listener, after: number): Promise<void> {
    let position = after;
    while (listener.isOpen && position !== this.told) {
      const changes = position < this.told ? await this.page(position) : null;
      // Nothing may come between looking at `told` and having sent up to it.
      const missed = changes?.filter(({ revision }) => revision <= this.told) ?? [];
      position = missed.at(-1)?.revision ?? this.told;
      if (missed.length > 0) this.metrics.changeEvents.inc(missed.length);
      else this.metrics.changeResyncs.inc();
      listener.send(missed.length > 0 ? revisionFrames(missed) : resyncFrame(position));
      await listener.drained();
    }
    seat.isLive = listener.isOpen;
  }

  private async page(after: number): Promise<readonly RevisionChange[] | null> {
    const page = this.pages.get(after) ?? this.since(after).finally(() => this.pages.delete(after));
    this.pages.set(after, page);
    const found = await page;
    // The next reading of the channel finds out as well, and ends all.
    if (found === null || found.incarnation !== this.incarnation) throw new AppError('TENANT_NOT_FOUND', 'the tenant is another');
    return found.changes;
  }
}
