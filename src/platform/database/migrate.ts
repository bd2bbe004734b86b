import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';

export const MIGRATIONS_DIR = fileURLToPath(new URL('../../../prisma/migrations/', import.meta.url));

/** The lock that Prisma's own `migrate deploy` takes, so that the two never run at once. */
const PRISMA_MIGRATE_LOCK = 72_707_369;

/** Prisma's bookkeeping, to the letter, so that `prisma migrate deploy` stays usable. */
const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
  logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name).sort();
  return Promise.all(names.map(async (name) => {
    const sql = await readFile(`${folder}/${name}/migration.sql`, 'utf8');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  }));
}

/** How what is applied to a database stands to what this build knows. */
export interface MigrationState {
  /** All that this build knows is there. */
  readonly isComplete: boolean;
  /** Of a newer build, whose tables this one runs on. */
  readonly unknown: readonly string[];
}

/** Applies what is missing, each in a transaction of its own, under a lock that one process holds. Returns the names applied. */
export async function migrate(pool: pg.Pool, folder = MIGRATIONS_DIR): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [PRISMA_MIGRATE_LOCK]);
    await client.query(BOOKKEEPING);
    const missing = notApplied(migrations, await appliedChecksums(client));
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ name }) => name);
  } finally {
    // The lock goes with the session where the unlock can not be said any more.
    await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    client.release();
  }
}

/** `SQLSTATE` of a database whose migrations have not come so far that the service may read their list: no role, no table, no right. */
const NOT_SO_FAR = new Set(['22023', '42P01', '42501']);

/** Looks, as the role that the service acts as, and applies nothing. */
export async function migrationState(pool: pg.Pool, folder = MIGRATIONS_DIR): Promise<MigrationState> {
  const known = new Set((await readMigrations(folder)).map(({ name }) => name));
  try {
    // One message is one transaction, and the role goes with it.
    const results = await pool.query(`SET LOCAL ROLE toolcrib_service; ${APPLIED}`) as unknown as pg.QueryResult<Applied>[];
    const applied = new Set((results[1]?.rows ?? []).map(({ migration_name }) => migration_name));
    return { isComplete: [...known].every((name) => applied.has(name)), unknown: [...applied].filter((name) => !known.has(name)).sort() };
  } catch (error) {
    if (NOT_SO_FAR.has(String((error as { code?: unknown }).code))) return { isComplete: false, unknown: [] };
    throw error;
  }
}

interface Applied {
  readonly migration_name: string;
  readonly checksum: string;
}

const APPLIED = 'SELECT migration_name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL';

async function appliedChecksums(client: pg.PoolClient): Promise<Map<string, string>> {
  const { rows } = await client.query<Applied>(APPLIED);
  return new Map(rows.map(({ migration_name, checksum }) => [migration_name, checksum]));
}

function notApplied(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): Migration[] {
  const altered = migrations.find(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum);
  if (altered !== undefined) throw new Error(`migration \`${altered.name}\` was altered after it had been applied`);
  return migrations.filter(({ name }) => !applied.has(name));
}

async function apply(client: pg.PoolClient, { name, sql, checksum }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query(
      'INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count) VALUES ($1, $2, $3, now(), clock_timestamp(), 1)',
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
