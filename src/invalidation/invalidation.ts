import type { Announcement } from '../platform/announcement.js';
import type { Logger } from '../platform/observability/logger.js';
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
  /** Null: some of the tenant's. */
  keysRevoked(tenant: TenantId, keyIds: readonly string[] | null): void;
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
    private readonly logger: Logger,
  ) {}

  start(): void {
    for (const road of this.roads) road.start({ hear: (announcement) => this.hearSafely(announcement, road.road), gap: () => this.watch.lookSoon() });
    this.watch.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.roads.map((road) => road.stop()), this.watch.stop()]);
  }

  /** Drivers call this: whatever goes wrong with one message must not end the process. */
  private hearSafely(announcement: Announcement, road: Road): void {
    try {
      this.hear(announcement, road);
    } catch (error) {
      this.logger.error({ err: error, road }, 'a message of another replica could not be taken in');
      this.watch.lookSoon();
    }
  }

  hear({ tenant, kind, revision, ids, at }: Announcement, road: Road): void {
    if (kind === 'tenant') this.kept.tenant(tenant);
    else if (kind === 'key') this.kept.keysRevoked(tenant, ids);
    else if (revision !== null && this.kept.revision(tenant, revision)) {
      this.metrics.invalidations.inc({ road });
      // Two machines' clocks may differ by more than the way takes.
      this.metrics.invalidationLag.observe({ road }, Math.max(0, Date.now() - at) / 1000);
    }
  }
}
