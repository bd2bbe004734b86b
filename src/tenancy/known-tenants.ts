import type { PolicyPoint } from '../core/policy-view.js';
import { within } from '../platform/errors/within.js';
import type { MonotonicClock } from '../platform/readings/readings.js';
import { Readings } from '../platform/readings/readings.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { TenantStore } from './tenant.store.js';

/** As of a key: a tenant that was deleted elsewhere is there no longer than this without a look. */
const FRESH_MS = 600;
const LOOK_TIMEOUT_MS = 2_000;
const MAX_TENANTS = 10_000;

const THERE = {};

/** Which of the tenants that tokens name there are. A key dies with its tenant; of a token nobody but this knows. */
export class KnownTenants {
  private readonly known: Readings<TenantId, typeof THERE>;

  constructor(tenants: Pick<TenantStore, 'exists'>, maxStalenessMs: number, now?: MonotonicClock) {
    this.known = new Readings<TenantId, typeof THERE>({
      load: async (tenant) => ((await within(LOOK_TIMEOUT_MS, tenants.exists(tenant))) ? THERE : null),
      freshMs: FRESH_MS, maxStalenessMs, maxSize: MAX_TENANTS, keepsAbsent: false, ...(now && { now }),
    });
  }

  /** Whether it is known to be there right now: the hot path. */
  has(tenant: TenantId): boolean {
    return this.known.hot(tenant) === THERE;
  }

  async exists(tenant: TenantId): Promise<boolean> {
    return (await this.known.current(tenant)).value !== null;
  }

  /** It was made or deleted. */
  forget(tenant: TenantId): void {
    this.known.forgetThese([tenant]);
  }

  inUse(): TenantId[] {
    return this.known.inUse();
  }

  /** A look that began at `at` found these there. */
  confirm(asked: readonly TenantId[], there: ReadonlyMap<TenantId, PolicyPoint>, at: number): void {
    this.known.forgetThese(asked.filter((tenant) => !there.has(tenant)));
    for (const tenant of there.keys()) this.known.confirm(tenant, THERE, at);
  }

  noteFailure(asked: readonly TenantId[]): void {
    this.known.noteFailure(asked);
  }
}
