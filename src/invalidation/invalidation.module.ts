import type { Provider } from '@nestjs/common';
import { ChangeFeed } from '../changes/change-feed.js';
import { GovernanceStore } from '../governance/governance.store.js';
import { Announcer, announcementOf } from '../platform/announcement.js';
import type { Config } from '../platform/config/config.js';
import type { Database } from '../platform/database/database.js';
import type { DatabaseLooks } from '../platform/database/looks.js';
import type { Logger } from '../platform/observability/logger.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { SharedRedis } from '../platform/redis/redis.js';
import { PolicyViews } from '../policy/policy-views.js';
import { Authenticator } from '../tenancy/authenticator.js';
import { KnownTenants } from '../tenancy/known-tenants.js';
import { Invalidation } from './invalidation.js';
import { PostgresAnnouncements } from './postgres-announcements.js';
import { PrismaRevisionLoader } from './prisma-revision.loader.js';
import { RedisAnnouncements } from './redis-announcements.js';
import { RevisionLoader } from './revision.loader.js';
import { RevisionWatch, together } from './revision-watch.js';

export interface InvalidationParts {
  readonly config: Config;
  readonly database: Database;
  readonly looks: DatabaseLooks;
  readonly redis: SharedRedis | null;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** How replicas tell one another what they committed. Alone on an embedded database there is nobody to tell. */
export function invalidationProviders({ config: { databaseUrl }, database, looks, redis, logger, metrics }: InvalidationParts): Provider[] {
  const overRedis = redis && new RedisAnnouncements(redis);
  const roads = [...(overRedis ? [overRedis] : []), ...(databaseUrl === null ? [] : [new PostgresAnnouncements(databaseUrl)])];
  const announcer: Announcer = { tell: (announcement) => overRedis?.publish(announcement) };
  return [
    { provide: Announcer, useValue: announcer },
    { provide: RevisionLoader, useValue: new PrismaRevisionLoader(database, looks) },
    {
      provide: Invalidation,
      useFactory: (loader: RevisionLoader, views: PolicyViews, keys: Authenticator, tenants: KnownTenants, store: GovernanceStore, changes: ChangeFeed) => {
        store.onCommit(({ tenant, revision, touched }) => {
          for (const { kind, ids } of touched) announcer.tell(announcementOf(tenant, kind, revision, ids));
        });
        // The embedded database is never away: a look may only have to wait there, as everybody does, for the one connection.
        const gate = databaseUrl === null ? { isAway: false } : database;
        const watch = new RevisionWatch(loader, together(views, tenants), keys, gate, logger);
        return new Invalidation(roads, watch, {
          revision: (tenant, revision) => {
            changes.note(tenant);
            return views.noteRevision(tenant, revision);
          },
          tenant: (tenant) => {
            keys.forgetTenant(tenant);
            views.noteTenant(tenant);
            changes.note(tenant);
          },
          keysRevoked: (tenant, keyIds) => keys.forget(tenant, keyIds),
        }, metrics, logger);
      },
      inject: [RevisionLoader, PolicyViews, Authenticator, KnownTenants, GovernanceStore, ChangeFeed],
    },
  ];
}
