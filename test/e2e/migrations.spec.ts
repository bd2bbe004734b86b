import { mkdtemp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectionPool } from '../../src/platform/database/database.js';
import { MIGRATIONS_DIR, migrate } from '../../src/platform/database/migrate.js';
import type { TestDatabase } from '../support/databases.js';
import { DATABASES, newPostgresUrl, postgresServer } from '../support/databases.js';

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

  it('say in their first line why they are there', async () => {
    const names = (await readdir(MIGRATIONS_DIR, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    for (const name of names) expect((await readFile(path.join(MIGRATIONS_DIR, name, 'migration.sql'), 'utf8')).split('\n')[0]).toMatch(/^-- \S/u);
  });
});
