import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from './create-app.js';
import { serveDocument } from './openapi.js';
import { Invalidation } from './invalidation/invalidation.js';
import { RevisionLoader } from './invalidation/revision.loader.js';
import type { Config } from './platform/config/config.js';
import type { Database } from './platform/database/database.js';
import { migrationState } from './platform/database/migrate.js';
import type { Opened } from './platform/database/open-database.js';
import { openDatabase } from './platform/database/open-database.js';
import { DRAIN_MS } from './platform/http/server.js';
import { fingerprint } from './platform/fingerprint.js';
import type { Logger } from './platform/observability/logger.js';
import { Metrics } from './platform/observability/metrics.js';
import { openTracing } from './platform/observability/open-tracing.js';
import { SharedRedis } from './platform/redis/redis.js';
import { Sweeper } from './platform/retention/sweeper.js';
import type { TenantId } from './platform/tenant-id.js';
import { PolicyLoader } from './policy/policy.loader.js';
import { KeyStore } from './tenancy/key.store.js';

export interface RunningService {
  /** For instance `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly app: NestFastifyApplication;
  readonly database: Database;
  /** Finishes what runs, then closes everything. */
  readonly stop: () => Promise<void>;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

/** Starts listening at once; a database that is not there yet is waited for, and `/health/ready` says so meanwhile. */
export async function startService(config: Config, platformKey: string, logger: Logger): Promise<RunningService> {
  const tracing = await openTracing(process.env, logger);
  const opened = await openDatabase(config, tracing);
  const { database, looks, close } = opened;
  const metrics = new Metrics();
  const redis = config.redisUrl === null ? undefined : new SharedRedis(config.redisUrl, logger, metrics, tracing);
  const app = await createApp({ config, platformKey, database, looks, logger, metrics, tracing, build: await fingerprint(), ...(redis && { redis }) });
  serveDocument(app);
  const stopping = new AbortController();
  const prepared = prepare(opened, () => firstQueries(app), config, logger, stopping.signal);
  if (config.databaseUrl === null) await prepared;
  await app.listen(config.port, config.host);
  const sweeper = app.get(Sweeper);
  sweeper.start();
  const invalidation = app.get(Invalidation);
  invalidation.start();
  const url = await app.getUrl();
  logger.info({ url, database: config.databaseUrl === null ? 'embedded' : 'postgresql', redis: config.redisUrl === null ? 'off' : 'on', traces: tracing.isOn ? 'on' : 'off' }, 'listening');
  return {
    url,
    app,
    database,
    stop: async () => {
      stopping.abort();
      await sweeper.stop();
      await closeGently(app);
      const sent = tracing.close();
      await invalidation.stop();
      redis?.close();
      await prepared;
      await close();
      await sent;
    },
  };
}

const SWEEP_MS = 100;

/** A connection that answers its last request is idle only then, and a client may keep it open: it is closed as it falls idle. */
async function closeGently(app: NestFastifyApplication): Promise<void> {
  const server = app.getHttpServer();
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await app.close();
  clearInterval(sweep);
  clearTimeout(cut);
}

const NOBODY = 'nobody' as TenantId;

/** All that the first decision for a tenant asks. */
const firstQueries = (app: NestFastifyApplication): Promise<unknown> =>
  Promise.all([app.get(KeyStore).find(NOBODY, 'none'), app.get(PolicyLoader).load(NOBODY, null), app.get(RevisionLoader).points([NOBODY])]);

const NOT_MIGRATED = 'migrations of this build are not applied: run `node dist/main.js migrate`';

/** Applies the migrations, or waits for who does, as often as it takes until the database is there. */
async function prepare({ database, migrate: applyMissing }: Opened, warmUp: () => Promise<unknown>, config: Config, logger: Logger, stop: AbortSignal): Promise<void> {
  for (let wait = FIRST_RETRY_MS; !stop.aborted; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
    try {
      const applied = config.migrate ? await applyMissing() : [];
      if (applied.length > 0) logger.info({ applied }, 'migrations applied');
      await mustBeMigrated(database, logger);
      await database.warmUp(warmUp);
      database.markReady();
      return;
    } catch (error) {
      database.notReadyBecause = error instanceof NotMigrated ? error.message : 'the database is not there yet';
      logger.warn({ reason: error instanceof Error ? error.message : String(error), retryInMs: wait }, 'the database is not there yet');
      await sleep(wait, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}

class NotMigrated extends Error {}

/** Newer tables serve as well: whatever a migration may do, the build before it runs on. */
async function mustBeMigrated({ pool }: Database, logger: Logger): Promise<void> {
  const { isComplete, unknown } = await migrationState(pool);
  if (!isComplete) throw new NotMigrated(NOT_MIGRATED);
  if (unknown.length > 0) logger.warn({ unknown }, 'a newer build has migrated this database');
}
