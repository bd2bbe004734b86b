import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import pg from 'pg';
import { Database, connectionPool } from '../../src/platform/database/database.js';
import { openEmbedded } from '../../src/platform/database/embedded.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { madeDataDir } from './process.js';

export interface TestDatabase {
  readonly database: Database;
  readonly close: () => Promise<void>;
}

export interface DatabaseKind {
  readonly name: string;
  /** A new database with all migrations applied. */
  readonly open: () => Promise<TestDatabase>;
}

const embedded: DatabaseKind = {
  name: 'embedded',
  open: async () => {
    const folder = await madeDataDir();
    const { pool, close } = await openEmbedded(folder);
    return migrated(new Database(pool), () => close().then(() => rm(folder, { recursive: true })));
  },
};

/** A new, empty database of the test server. */
export async function newPostgresUrl(server: string): Promise<string> {
  const name = `toolcrib_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

const postgres = (server: string): DatabaseKind => ({
  name: 'PostgreSQL',
  open: async () => migrated(new Database(connectionPool(await newPostgresUrl(server))), () => Promise.resolve()),
});

async function migrated(database: Database, closeBelow: () => Promise<void>): Promise<TestDatabase> {
  await migrate(database.pool);
  database.markReady();
  return { database, close: () => database.close().then(closeBelow) };
}

/** The server of the suites on PostgreSQL; undefined where there is none (the last lines of the run say so). */
export const postgresServer = process.env['TEST_DATABASE_URL'];

/** What a suite "on both databases" runs on. */
export const DATABASES: readonly DatabaseKind[] = postgresServer === undefined ? [embedded] : [embedded, postgres(postgresServer)];
