import type { Config } from '../config/config.js';
import type { Tracing } from '../observability/tracing.js';
import { Database, connectionPool, migrationPool } from './database.js';
import type { EmbeddedDatabase } from './embedded.js';
import { DatabaseLooks, lookPool } from './looks.js';
import { migrate } from './migrate.js';

export interface Opened {
  readonly database: Database;
  readonly looks: DatabaseLooks;
  /** Applies what is missing; the names of it. */
  readonly migrate: () => Promise<string[]>;
  readonly close: () => Promise<void>;
}

/** The database that the configuration names. The embedded one is loaded only where it is used: it is large. */
export async function openDatabase({ databaseUrl, dataDir }: Config, tracing?: Tracing): Promise<Opened> {
  if (databaseUrl !== null) {
    const database = new Database(connectionPool(databaseUrl), tracing);
    const looks = new DatabaseLooks(lookPool(databaseUrl));
    return { database, looks, migrate: () => migrateAt(databaseUrl), close: () => Promise.all([database.close(), looks.close()]).then(() => undefined) };
  }
  const { openEmbedded } = await import('./embedded.js');
  const embedded: EmbeddedDatabase = await openEmbedded(dataDir);
  const database = new Database(embedded.pool, tracing);
  const close = (): Promise<void> => database.close().then(() => embedded.close());
  return { database, looks: new DatabaseLooks(embedded.pool), migrate: () => migrate(embedded.pool), close };
}

async function migrateAt(databaseUrl: string): Promise<string[]> {
  const pool = migrationPool(databaseUrl);
  // One that breaks while idle ends nothing.
  pool.on('error', () => undefined);
  try {
    return await migrate(pool);
  } finally {
    await pool.end();
  }
}
