import type { Announcement } from '../platform/announcement.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { Announcements, Road } from './announcements.js';
import type { RevisionWatch } from './revision-watch.js';

/** What this replica keeps of the database, and what it does on hearing that a part of it is old. */
export interface Invalidated {
  /** Whether the revision was news. */
  revision(tenant: TenantId, revision: number): boolean;
  /** A tenant was made or deleted. */
  tenant(tenant: TenantId): void;
  keyRevoked(tenant: TenantId, keyId: string): void;
}

/**
 * The three roads by which a replica learns of what another one committed: messages over Redis, messages over PostgreSQL,
 * and its own look several times a second. Each alone is enough; together they are fast and sure.
 */
export class Invalidation {
  constructor(
    private readonly roads: readonly Announcements[],
    private readonly watch: RevisionWatch,
    private readonly kept: Invalidated,
    private readonly metrics: Metrics,
  ) {}

  start(): void {
    for (const road of this.roads) road.start({ hear: (announcement) => this.hear(announcement, road.road), gap: () => this.watch.lookSoon() });
    this.watch.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.roads.map((road) => road.stop()), this.watch.stop()]);
  }

  hear({ tenant, kind, revision, ids, at }: Announcement, road: Road): void {
    if (kind === 'tenant') this.kept.tenant(tenant);
    else if (kind === 'key') for (const keyId of ids ?? []) this.kept.keyRevoked(tenant, keyId);
    else if (revision !== null && this.kept.revision(tenant, revision)) {
      this.metrics.invalidations.inc({ road });
      // Two machines' clocks may differ by more than the way takes.
      this.metrics.invalidationLag.observe({ road }, Math.max(0, Date.now() - at) / 1000);
    }
  }
}
