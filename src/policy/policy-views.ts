import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { PolicyDelta, PolicyView } from '../core/policy-view.js';
import { applyDelta } from '../core/policy-view.js';
import { AppError, tenantNotFound } from '../platform/errors/app-error.js';
import type { Metrics } from '../platform/observability/metrics.js';
import { within } from '../platform/errors/within.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { PolicyLoader } from './policy.loader.js';

/** A view is answered from without a look at the database for this long. */
const FRESH_MS = 200;
/** After a failed look the next one is not begun for this long. */
const RETRY_MS = 500;
/** A failure counts as the present state for this long, which is longer than one request may wait for several looks. */
const NEWS_MS = 10_000;
/** A look that takes longer counts as failed. The first reading of a tenant may be large, and there is nothing to answer from meanwhile. */
const LOOK_TIMEOUT_MS = 3_000;
const FIRST_LOAD_TIMEOUT_MS = 30_000;
const MIN_REVISION_WAIT_MS = 2_000;
const POLL_MS = 50;
/** Tools and agents in all the views of the process; some 2 kB each. */
const MAX_RECORDS = 200_000;

/** Milliseconds that never jump. */
export type MonotonicClock = () => number;

export interface ServedView {
  readonly view: PolicyView;
  /** 0 for a fresh one, else how long ago it was certain to be current. */
  readonly staleForMs: number;
}

interface Entry {
  view: PolicyView | null;
  /** When the last successful look began: the view holds all that had committed by then. */
  checkedAt: number;
  /** When a write of this process committed last: a look that began before it does not count. */
  dirtyAt: number;
  failedAt: number;
  /** The look under way, and the one that begins when it ends. */
  running: Promise<void> | null;
  next: Promise<void> | null;
}

/**
 * The compiled views of this process, one a tenant, each compiled once for a revision.
 *
 * INVARIANT (freshness): a view that is served as fresh holds every write that this process committed, and every write of
 * other processes that committed more than {@link FRESH_MS} before.
 */
export class PolicyViews {
  private readonly entries: LRUCache<TenantId, Entry>;

  constructor(
    private readonly loader: PolicyLoader,
    private readonly metrics: Metrics,
    private readonly maxStalenessMs: number,
    private readonly now: MonotonicClock = () => performance.now(),
    maxRecords = MAX_RECORDS,
  ) {
    this.entries = new LRUCache({ maxSize: maxRecords, sizeCalculation: ({ view }) => 1 + (view === null ? 0 : view.tools.length + view.agents.size) });
  }

  /** The view when it needs no look at the database, else null: the hot path. */
  hot(tenant: TenantId): PolicyView | null {
    const entry = this.entries.get(tenant);
    return entry !== undefined && this.isFresh(entry) ? entry.view : null;
  }

  /** A view to decide from, at `minRevision` or later. */
  async get(tenant: TenantId, minRevision = 0): Promise<ServedView> {
    const served = await this.current(tenant);
    return served.view.revision >= minRevision ? served : this.waitFor(tenant, minRevision);
  }

  /** A view that holds everything that had committed anywhere when it was asked for. */
  async fresh(tenant: TenantId): Promise<PolicyView> {
    const entry = this.entryOf(tenant);
    await this.look(tenant, entry);
    return this.viewOf(entry);
  }

  /** A write of this process has committed. */
  noteCommit(tenant: TenantId): void {
    const entry = this.entries.get(tenant);
    if (entry === undefined) return;
    entry.dirtyAt = this.now();
    // It got through, so the database is there.
    entry.failedAt = -Infinity;
  }

  private async current(tenant: TenantId): Promise<ServedView> {
    const entry = this.entryOf(tenant);
    if (this.isFresh(entry)) return { view: this.viewOf(entry), staleForMs: 0 };
    if (entry.view !== null && this.isFailing(entry)) return this.whileFailing(tenant, entry);
    try {
      await this.look(tenant, entry);
    } catch (error) {
      if (error instanceof AppError && error.code === 'TENANT_NOT_FOUND') throw error;
      return this.stale(tenant, entry);
    }
    return { view: this.viewOf(entry), staleForMs: 0 };
  }

  /** A failure that is old news says nothing of the database now. */
  private isFailing({ failedAt, running }: Entry): boolean {
    return failedAt !== -Infinity && (running !== null || this.now() - failedAt < NEWS_MS);
  }

  /** Nobody waits for a database that failed just now: a look in the background finds out when it is back. */
  private whileFailing(tenant: TenantId, entry: Entry): ServedView {
    if (entry.running === null && this.now() - entry.failedAt >= RETRY_MS) this.look(tenant, entry).catch(() => undefined);
    return this.stale(tenant, entry);
  }

  /** The bound on staleness is told, and nothing is answered beyond it. */
  private stale(tenant: TenantId, { view, checkedAt }: Entry): ServedView {
    if (view === null) throw new AppError('DATABASE_UNAVAILABLE', 'the database can not be reached, and nothing is known of this tenant yet');
    const staleForMs = Math.max(1, Math.round(this.now() - checkedAt));
    if (staleForMs > this.maxStalenessMs) throw new AppError('TOO_STALE', `the last reading is older than ${this.maxStalenessMs} ms`);
    this.metrics.staleAnswers.inc({ tenant });
    return { view, staleForMs };
  }

  private async waitFor(tenant: TenantId, minRevision: number): Promise<ServedView> {
    const deadline = this.now() + MIN_REVISION_WAIT_MS;
    while (this.now() < deadline) {
      const view = await this.fresh(tenant).catch(() => null);
      if (view !== null && view.revision >= minRevision) return { view, staleForMs: 0 };
      await sleep(POLL_MS);
    }
    throw new AppError('REVISION_NOT_REACHED', `revision \`${minRevision}\` was not reached within ${MIN_REVISION_WAIT_MS} ms`);
  }

  private isFresh({ view, checkedAt, dirtyAt }: Entry): boolean {
    return view !== null && checkedAt > dirtyAt && this.now() - checkedAt < FRESH_MS;
  }

  private viewOf({ view }: Entry): PolicyView {
    if (view === null) throw tenantNotFound();
    return view;
  }

  private entryOf(tenant: TenantId): Entry {
    const known = this.entries.get(tenant);
    if (known !== undefined) return known;
    const entry: Entry = { view: null, checkedAt: -Infinity, dirtyAt: -Infinity, failedAt: -Infinity, running: null, next: null };
    this.entries.set(tenant, entry);
    return entry;
  }

  /**
   * One look at the database for all who wait. Who comes while one is under way shares the next: the running one may have
   * begun before what the newcomer wants to see was written.
   */
  private look(tenant: TenantId, entry: Entry): Promise<void> {
    if (entry.running === null) {
      entry.running = this.load(tenant, entry).finally(() => {
        entry.running = null;
      });
      return entry.running;
    }
    entry.next ??= entry.running.catch(() => undefined).then(() => {
      entry.next = null;
      return this.look(tenant, entry);
    });
    return entry.next;
  }

  private async load(tenant: TenantId, entry: Entry): Promise<void> {
    const startedAt = this.now();
    const before = entry.view;
    try {
      const delta = await within(before === null ? FIRST_LOAD_TIMEOUT_MS : LOOK_TIMEOUT_MS, this.loader.load(tenant, before));
      this.metrics.policyLoads.inc({ outcome: outcomeOf(delta) });
      if (delta === null) return this.forget(tenant, entry);
      entry.checkedAt = startedAt;
      entry.failedAt = -Infinity;
      if (delta === 'unchanged') return;
      entry.view = applyDelta(before, delta);
      this.remeasure(tenant, entry);
    } catch (error) {
      if (error instanceof AppError && error.code === 'TENANT_NOT_FOUND') throw error;
      this.metrics.policyLoads.inc({ outcome: 'failed' });
      entry.failedAt = this.now();
      throw error;
    }
  }

  /** The cache measures an entry when it is put in. One that was put out meanwhile stays out: it has missed what was said since. */
  private remeasure(tenant: TenantId, entry: Entry): void {
    if (this.entries.peek(tenant) !== entry) return;
    this.entries.delete(tenant);
    this.entries.set(tenant, entry);
  }

  private forget(tenant: TenantId, entry: Entry): never {
    entry.view = null;
    if (this.entries.peek(tenant) === entry) this.entries.delete(tenant);
    throw tenantNotFound();
  }
}

function outcomeOf(delta: PolicyDelta | 'unchanged' | null): string {
  if (delta === null) return 'missing';
  if (delta === 'unchanged') return delta;
  return delta.complete ? 'complete' : 'delta';
}
