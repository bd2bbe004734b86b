import { setTimeout as sleep } from 'node:timers/promises';
import type { PolicyDelta, PolicyPoint, PolicyView } from '../core/policy-view.js';
import { applyDelta } from '../core/policy-view.js';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { AppError, tenantNotFound } from '../platform/errors/app-error.js';
import { within } from '../platform/errors/within.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { Tally } from '../platform/observability/tallies.js';
import type { Tracing } from '../platform/observability/tracing.js';
import { NO_TRACING } from '../platform/observability/tracing.js';
import type { MonotonicClock } from '../platform/readings/readings.js';
import { Readings } from '../platform/readings/readings.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { PolicyLoader } from './policy.loader.js';
import { withSharedParts } from './shared-parts.js';
import { viewSize } from './view-size.js';

/** A view is answered from without a look at the database for this long; while it is in use, looks for all views renew it. */
const FRESH_MS = 600;
/** A look that takes longer counts as failed; nobody waits that long who has something to answer from. A first reading is that of a whole tenant. */
const LOOK_TIMEOUT_MS = 10_000;
const FIRST_LOAD_TIMEOUT_MS = 30_000;
const MIN_REVISION_WAIT_MS = 2_000;
const POLL_MS = 50;
const NO_REVISION = 0;
/** Of what has to be read: the reading is within it. */
const MISS = { 'toolcrib.cache.level': 'view', 'toolcrib.cache.outcome': 'miss' };

export interface ServedView {
  readonly view: PolicyView;
  /** 0 for a fresh one, else how long ago it was certain to be current. */
  readonly staleForMs: number;
}

/** The compiled views of this process, one a tenant, each compiled once for a revision. */
export class PolicyViews {
  private readonly readings: Readings<TenantId, PolicyView>;
  private readonly hits: Tally;
  private readonly misses: Tally;
  /** What looks under way are to find, so that the same news by another road begins no second one. */
  private readonly expected = new Map<TenantId, number>();

  constructor(
    private readonly loader: PolicyLoader,
    private readonly metrics: Metrics,
    maxStalenessMs: number,
    private readonly now: MonotonicClock = () => performance.now(),
    maxBytes = DEFAULT_LIMITS.viewBytes,
    private readonly tracing: Tracing = NO_TRACING,
  ) {
    this.hits = tracing.told(metrics.cacheRequests.of('view', 'hit'), 'cache', { 'toolcrib.cache.level': 'view', 'toolcrib.cache.outcome': 'hit' });
    this.misses = metrics.cacheRequests.of('view', 'miss');
    this.readings = new Readings<TenantId, PolicyView>({
      load: (tenant, before) => this.load(tenant, before),
      freshMs: FRESH_MS,
      maxStalenessMs,
      maxSize: maxBytes,
      sizeOf: viewSize,
      keepsAbsent: false,
      putOut: (tenant) => metrics.viewRevision.remove({ tenant }),
      now,
    });
  }

  /** The view when it needs no look at the database, else null: the hot path. */
  hot(tenant: TenantId): PolicyView | null {
    const view = this.readings.hot(tenant) ?? null;
    (view === null ? this.misses : this.hits).inc();
    return view;
  }

  /** A view to decide from, at `minRevision` or later. */
  async get(tenant: TenantId, minRevision = NO_REVISION): Promise<ServedView> {
    const isKnown = this.isKnown(tenant);
    const askedAt = this.now();
    const served = await (this.tracing.isOn && this.readings.hot(tenant) === undefined ? this.tracing.span('cache', MISS, () => this.current(tenant)) : this.current(tenant));
    return served.view.revision >= minRevision ? served : this.waitFor(tenant, minRevision, (isKnown ? askedAt : this.now()) + MIN_REVISION_WAIT_MS);
  }

  /** A view that holds everything that had committed anywhere when it was asked for. */
  async fresh(tenant: TenantId): Promise<PolicyView> {
    return existing(await this.readings.fresh(tenant));
  }

  /** Whether something was read of the tenant, so that a decision can be made without reading all of it first. */
  isKnown(tenant: TenantId): boolean {
    return this.readings.has(tenant);
  }

  /** The tenants that are decided for nowadays. */
  inUse(): TenantId[] {
    return this.readings.inUse();
  }

  /** A look that began at `at` found the tenants there: what is unchanged is fresh again, what is not is read at once. */
  confirm(asked: readonly TenantId[], points: ReadonlyMap<TenantId, PolicyPoint>, at: number): void {
    for (const tenant of asked) {
      const view = this.readings.last(tenant);
      const point = points.get(tenant);
      if (view === null) continue;
      if (view.incarnation !== point?.incarnation) void this.readings.refresh(tenant);
      else if (view.revision === point.revision) this.readings.confirm(tenant, view, at);
      else if (this.noteRevision(tenant, point.revision)) this.metrics.invalidations.inc({ road: 'check' });
    }
  }

  noteFailure(asked: readonly TenantId[]): void {
    this.readings.noteFailure(asked);
  }

  /** Another process has committed this revision, or says so. Whether that was news. */
  noteRevision(tenant: TenantId, revision: number): boolean {
    const view = this.readings.last(tenant);
    if (view === null || view.revision >= revision || (this.expected.get(tenant) ?? NO_REVISION) >= revision) return false;
    this.expected.set(tenant, revision);
    void this.readings.refresh(tenant).finally(() => {
      if (this.expected.get(tenant) === revision) this.expected.delete(tenant);
    });
    return true;
  }

  /** Another process has made or deleted the tenant, or says so. */
  noteTenant(tenant: TenantId): void {
    void this.readings.refresh(tenant);
  }

  /** A write of this process has committed. */
  noteCommit(tenant: TenantId): void {
    this.readings.noteWrite(tenant);
  }

  private async current(tenant: TenantId): Promise<ServedView> {
    const { value, staleForMs } = await this.readings.current(tenant).catch((error: unknown) => {
      throw error instanceof AppError ? error : new AppError('DATABASE_UNAVAILABLE', 'the database can not be reached, and nothing is known of this tenant yet');
    });
    if (staleForMs > 0) this.metrics.staleAnswers.inc({ tenant });
    return { view: existing(value), staleForMs };
  }

  private async waitFor(tenant: TenantId, minRevision: number, deadline: number): Promise<ServedView> {
    while (this.now() < deadline) {
      const view = await within(deadline - this.now(), this.fresh(tenant)).catch(() => null);
      if (view !== null && view.revision >= minRevision) return { view, staleForMs: 0 };
      await sleep(POLL_MS);
    }
    throw new AppError('REVISION_NOT_REACHED', `revision \`${minRevision}\` was not reached within ${MIN_REVISION_WAIT_MS} ms`);
  }

  private async load(tenant: TenantId, before: PolicyView | null): Promise<PolicyView | null> {
    const end = this.metrics.cacheFillSeconds.startTimer({ level: 'view' });
    try {
      const delta = await within(before === null ? FIRST_LOAD_TIMEOUT_MS : LOOK_TIMEOUT_MS, this.loader.load(tenant, before));
      this.metrics.policyLoads.inc({ outcome: outcomeOf(delta) });
      if (delta === 'unchanged') return before;
      const view = delta && applyDelta(before, withSharedParts(delta));
      end();
      if (view !== null) this.metrics.viewRevision.set({ tenant }, view.revision);
      return view;
    } catch (error) {
      this.metrics.policyLoads.inc({ outcome: 'failed' });
      throw error;
    }
  }
}

function existing(view: PolicyView | null): PolicyView {
  if (view === null) throw tenantNotFound();
  return view;
}

function outcomeOf(delta: PolicyDelta | 'unchanged' | null): string {
  if (delta === null) return 'missing';
  if (delta === 'unchanged') return delta;
  return delta.complete ? 'complete' : 'delta';
}
