import { mkdtemp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { connectionPool, migrationPool } from '../../src/platform/database/database.js';
import { openEmbedded } from '../../src/platform/database/embedded.js';
import { MIGRATIONS_DIR, migrate, migrationState } from '../../src/platform/database/migrate.js';
import type { TestDatabase } from '../support/databases.js';
import { DATABASES, newPostgresUrl, postgresServer } from '../support/databases.js';
import { FLEET_KEY, becomes, isReady } from '../support/fleet.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, spawnService } from '../support/process.js';

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly nullable: boolean;
}

const TYPES: Record<string, string> = { String: 'text', Boolean: 'boolean', BigInt: 'bigint', Int: 'integer', Bytes: 'bytea', DateTime: 'timestamp with time zone' };

/** The columns that `schema.prisma` speaks of. */
async function modelled(): Promise<Column[]> {
  const schema = await readFile('prisma/schema.prisma', 'utf8');
  return [...schema.matchAll(/^model \w+ \{(.*?)^\}/gmsu)].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/u.exec(body)?.[1] ?? '';
    return [...body.matchAll(/^ {2}(\w+)\s+(\w+)(\[\])?(\?)?(.*)$/gmu)]
      .filter(([, , type = '', list]) => TYPES[type] !== undefined && !(list !== undefined && type !== 'String'))
      .map(([, field = '', type = '', list, optional, rest = '']) => ({
        table,
        column: /@map\("(\w+)"\)/u.exec(rest)?.[1] ?? field,
        type: rest.includes('@db.Uuid') ? 'uuid' : list === undefined ? (TYPES[type] ?? '') : 'ARRAY',
        nullable: optional !== undefined,
      }));
  });
}

const byPlace = (a: Column, b: Column): number => (`${a.table}.${a.column}` < `${b.table}.${b.column}` ? -1 : 1);

(postgresServer === undefined ? describe.skip : describe)('migrations of several replicas', () => {
  it('that start at once on a new database are applied once', async () => {
    const url = await newPostgresUrl(postgresServer ?? '');
    const pools = [1, 2, 3].map(() => connectionPool(url));
    const applied = await Promise.all(pools.map((pool) => migrate(pool)));
    const names = (await readdir(MIGRATIONS_DIR, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    expect(applied.flat().sort()).toEqual(names.sort());
    await Promise.all(pools.map((pool) => pool.end()));
  });
});

/** What Prisma's own command takes, too. */
const LOCK = 72_707_369;

(postgresServer === undefined ? describe.skip : describe)('migrations as a job of their own', () => {
  let url: string;
  let client: pg.Client;
  const running: ServiceProcess[] = [];
  const start = (environment: Record<string, string>, args?: readonly string[]): ServiceProcess => {
    const service = spawnService({ DATABASE_URL: url, TOOLCRIB_PLATFORM_KEY: FLEET_KEY, ...environment }, args);
    running.push(service);
    return service;
  };
  beforeEach(async () => {
    url = await newPostgresUrl(postgresServer ?? '');
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });
  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.splice(0).map(({ ended }) => ended));
    await client.end();
  });

  it('wait for another as long as it takes, and end at once when they are told to', async () => {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const waiting = async (): Promise<number> => {
      const { rows } = await client.query<{ count: number }>("SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'toolcrib-migrate' AND wait_event = 'advisory'");
      return rows[0]?.count ?? 0;
    };
    const [told, left] = [start({}, ['migrate']), start({}, ['migrate'])];
    expect(await becomes(async () => (await waiting()) === 2, 60_000)).toBe(true);
    told.child.kill('SIGTERM');
    // Heard, which by default it is not by process 1 of a container: else this would be the signal's name.
    expect(await told.ended).toBe(128 + 15);
    const pool = migrationPool(url);
    expect([pool.options.query_timeout, connectionPool(url).options.query_timeout]).toEqual([undefined, 15_000]);
    await client.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    expect([await left.ended, left.output()]).toEqual([0, expect.stringMatching(/^applied \d+_/u)]);
    expect(await migrationState(pool)).toEqual({ isComplete: true, unknown: [] });
    await pool.end();
  });

  it('are waited for by a replica that does not migrate: it is live, says what it waits for, and gets ready by itself', async () => {
    const at = await listening(start({ TOOLCRIB_MIGRATE: 'off' }));
    const detail = 'migrations of this build are not applied: run `node dist/main.js migrate`';
    expect(await becomes(async () => (await ask(at, null, 'GET', '/health/ready')).body.detail === detail, 20_000)).toBe(true);
    expect((await ask(at, null, 'GET', '/health/live')).status).toBe(200);
    expect((await ask(at, FLEET_KEY, 'GET', '/v1/tenants')).body).toMatchObject({ status: 503, code: 'DATABASE_UNAVAILABLE', detail });
    expect(await start({}, ['migrate']).ended).toBe(0);
    expect(await becomes(() => isReady(at), 20_000)).toBe(true);
  });

  it('of a newer build are no obstacle to this one, whether it migrates or not: it says so, and serves', async () => {
    expect(await start({}, ['migrate']).ended).toBe(0);
    await client.query("INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ('new', 'new', '29990101000000_new', now(), 1)");
    for (const migrating of ['on', 'off']) {
      const service = start({ TOOLCRIB_MIGRATE: migrating });
      const at = await listening(service);
      expect(await becomes(() => isReady(at), 20_000)).toBe(true);
      expect(service.output()).toContain('"unknown":["29990101000000_new"],"msg":"a newer build has migrated this database"');
    }
  });
});

describe.each(DATABASES)('migrations, $name', (kind) => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await kind.open();
  });
  afterAll(() => test.close());

  it('leave the very tables that schema.prisma describes', async () => {
    const { rows } = await test.database.pool.query(`
      SELECT table_name AS "table", column_name AS "column", data_type AS type, is_nullable = 'YES' AS nullable
      FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_prisma_migrations'`);
    expect((rows as Column[]).sort(byPlace)).toEqual((await modelled()).sort(byPlace));
  });

  it('are applied once, under their names and checksums', async () => {
    expect(await migrate(test.database.pool)).toEqual([]);
    const { rows } = await test.database.pool.query('SELECT migration_name, length(checksum) AS length, applied_steps_count AS steps FROM _prisma_migrations ORDER BY 1');
    const names = (await readdir(MIGRATIONS_DIR, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name).sort();
    expect(rows).toEqual(names.map((migration_name) => ({ migration_name, length: 64, steps: 1 })));
  });

  it('are refused when one was altered after it had been applied, and undone when one fails', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'migrations-'));
    const put = async (name: string, sql: string): Promise<void> => {
      await mkdir(path.join(folder, name), { recursive: true });
      await writeFile(path.join(folder, name, 'migration.sql'), sql);
    };
    await put('2_extra', 'CREATE TABLE extra (id int);');
    expect(await migrate(test.database.pool, folder)).toEqual(['2_extra']);
    await put('3_broken', 'CREATE TABLE more (id int); SELECT nonsense;');
    await expect(migrate(test.database.pool, folder)).rejects.toThrow();
    expect((await test.database.pool.query("SELECT to_regclass('more') AS more")).rows).toEqual([{ more: null }]);
    await put('2_extra', 'CREATE TABLE extra (id bigint);');
    await expect(migrate(test.database.pool, folder)).rejects.toThrow('`2_extra` was altered');
    await test.database.pool.query("DROP TABLE extra; DELETE FROM _prisma_migrations WHERE migration_name = '2_extra'");
  });

  it('are looked for as the role that serves, and one that is missing is missed', async () => {
    const { pool } = test.database;
    expect(await migrationState(pool)).toEqual({ isComplete: true, unknown: [] });
    await pool.query("UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name LIKE '%_changes'");
    expect(await migrationState(pool)).toEqual({ isComplete: false, unknown: [] });
    await pool.query('UPDATE _prisma_migrations SET rolled_back_at = NULL');
    await pool.query('REVOKE SELECT (migration_name) ON _prisma_migrations FROM toolcrib_service');
    expect(await migrationState(pool)).toEqual({ isComplete: false, unknown: [] });
    await pool.query('GRANT SELECT (migration_name) ON _prisma_migrations TO toolcrib_service');
    expect((await pool.query('SELECT current_user = session_user AS own')).rows).toEqual([{ own: true }]);
  });

  it('are all missing in a new database', async () => {
    const { pool, close } = await openEmbedded(null);
    expect(await migrationState(pool)).toEqual({ isComplete: false, unknown: [] });
    await pool.end();
    await close();
  });

  it('say in their first line why they are there', async () => {
    const names = (await readdir(MIGRATIONS_DIR, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    for (const name of names) expect((await readFile(path.join(MIGRATIONS_DIR, name, 'migration.sql'), 'utf8')).split('\n')[0]).toMatch(/^-- \S/u);
  });
});
