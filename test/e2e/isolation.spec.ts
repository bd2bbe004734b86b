import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { DATABASES } from '../support/databases.js';
import { populatedTenant } from '../support/populated-tenant.js';
import type { TenantTable } from '../support/rows.js';
import { rowsOf, tenantTables } from '../support/rows.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { startTestService } from '../support/test-service.js';

/** What a query of the service may have been told of whose it is. */
const TOLD = ['mine', 'an empty one', 'one that is nowhere', 'none'] as const;

describe.each(DATABASES)('rows of one tenant, seen from another in SQL, $name', (kind) => {
  let service: TestService;
  let mine: TestTenant;
  let theirs: TestTenant;
  let tables: readonly TenantTable[];
  beforeAll(async () => {
    service = await startTestService(kind);
    mine = await populatedTenant(service, 'mine', 'my own');
    theirs = await populatedTenant(service, 'theirs', 'their own');
    tables = await tenantTables(service.database.pool);
  });
  afterAll(() => service.close());

  /** Runs SQL as the service's own role, as if somebody had found a way to inject it. */
  const asService = async <T>(tenant: string | null, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await service.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query("SELECT set_config('role', 'toolcrib_service', true)");
      if (tenant !== null) await client.query("SELECT set_config('toolcrib.tenant_id', $1, true)", [tenant]);
      return await work(client);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  };
  const tenantTold = (told: (typeof TOLD)[number]): string | null => ({ 'mine': mine.tenantId, 'an empty one': '', 'one that is nowhere': 'nowhere', 'none': null })[told];
  /** Runs one statement on one table that nobody may let at a row of theirs: it finds none, or is refused. */
  const findsNothing = async (at: string, tenant: string | null, sql: string, values: readonly unknown[]): Promise<void> => {
    const outcome = await asService(tenant, (client) => client.query(sql, [...values])).then(({ rowCount }) => `${rowCount} rows`, (error: unknown) => String(error));
    expect({ at, sql, outcome }).toEqual({ at, sql, outcome: expect.stringMatching(/^0 rows$|permission denied for table|violates row-level security policy/u) });
  };

  it('are there at all, in every table that the catalog knows', async () => {
    expect(tables.length).toBeGreaterThan(6);
    for (const { name, tenantColumn } of tables) {
      const { rows } = await service.database.pool.query(`SELECT DISTINCT ${tenantColumn} AS id FROM ${name}`);
      expect({ name, of: rows.map(({ id }) => id) }).toEqual({ name, of: expect.arrayContaining([mine.tenantId, theirs.tenantId]) });
    }
  });

  it('are not to be read, whatever the query says, and the own ones are', async () => {
    for (const { name, tenantColumn } of tables) {
      const seen = await asService(mine.tenantId, (client) => client.query(`SELECT ${tenantColumn} AS id FROM ${name} WHERE ${tenantColumn} = $1 OR true`, [theirs.tenantId]));
      expect({ name, of: [...new Set(seen.rows.map(({ id }) => id))] }).toEqual({ name, of: [mine.tenantId] });
      const { rows } = await asService(mine.tenantId, (client) => client.query(`SELECT count(*)::int AS n, max(t::text) AS most FROM ${name} t WHERE ${tenantColumn} <> $1`, [mine.tenantId]));
      expect({ name, ...rows[0] }).toEqual({ name, n: 0, most: null });
    }
  });

  it.each(TOLD)('are not to be read, locked, changed, deleted or planted by any statement, told as tenant: %s', async (told) => {
    const tenant = tenantTold(told);
    const before = await rowsOf(service.database.pool, null);
    for (const { name, tenantColumn, columns } of tables) {
      const { rows: [row] } = await service.database.pool.query(`SELECT * FROM ${name} WHERE ${tenantColumn} = $1`, [theirs.tenantId]);
      const values = columns.map((column) => row[column] as unknown);
      const places = columns.map((_, i) => `$${i + 1}`).join(', ');
      const changed = columns.filter((column) => column !== tenantColumn);
      await findsNothing('read', tenant, `SELECT * FROM ${name} WHERE ${tenantColumn} = $1`, [theirs.tenantId]);
      await findsNothing('lock', tenant, `SELECT * FROM ${name} WHERE ${tenantColumn} = $1 FOR UPDATE`, [theirs.tenantId]);
      for (const column of changed) await findsNothing('change', tenant, `UPDATE ${name} SET ${column} = ${column} WHERE ${tenantColumn} = $1`, [theirs.tenantId]);
      await findsNothing('hand over', tenant, `UPDATE ${name} SET ${tenantColumn} = $1`, [theirs.tenantId]);
      await findsNothing('delete', tenant, `DELETE FROM ${name} WHERE ${tenantColumn} = $1`, [theirs.tenantId]);
      await findsNothing('plant', tenant, `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places})`, values);
      await findsNothing('plant over', tenant, `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places}) ON CONFLICT DO NOTHING`, values);
      await findsNothing('take', tenant, `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${name} WHERE ${tenantColumn} = $1`, [theirs.tenantId]);
      await findsNothing('empty', tenant, `TRUNCATE ${name} CASCADE`, []);
      await findsNothing('copy', tenant, `WITH gone AS (DELETE FROM ${name} WHERE ${tenantColumn} = $1 RETURNING *) SELECT * FROM gone`, [theirs.tenantId]);
      if (told !== 'mine') await findsNothing('read all', tenant, `SELECT * FROM ${name}`, []);
    }
    expect(await rowsOf(service.database.pool, null)).toEqual(before);
  });

  it('are history that not even the own tenant can change, and can only remove when it is old', async () => {
    await expect(asService(mine.tenantId, (client) => client.query("UPDATE history SET key_name = 'somebody else'"))).rejects.toThrow(/permission denied/u);
    await expect(asService(mine.tenantId, (client) => client.query('TRUNCATE history'))).rejects.toThrow(/permission denied/u);
    const removed = await asService(mine.tenantId, (client) => client.query('DELETE FROM history'));
    expect(removed.rowCount).toBe(0);
    const planted = asService(mine.tenantId, (client) => client.query("INSERT INTO history (tenant_id, revision, key_id, key_name, request_id, entity, entity_id, action) VALUES ($1, 99, 'k', 'n', 'r', 'agent', 'm', 'update')", [theirs.tenantId]));
    await expect(planted).rejects.toThrow(/row-level security/u);
  });

  it('are not to be reached by a role that could step over the policies', async () => {
    const { rows } = await service.database.pool.query("SELECT rolname, rolsuper, rolbypassrls, rolcanlogin FROM pg_roles WHERE rolname LIKE 'toolcrib_%' ORDER BY 1");
    expect(rows).toEqual(['toolcrib_platform', 'toolcrib_service'].map((rolname) => ({ rolname, rolsuper: false, rolbypassrls: false, rolcanlogin: false })));
    await expect(asService(mine.tenantId, (client) => client.query('ALTER TABLE agents DISABLE ROW LEVEL SECURITY'))).rejects.toThrow(/must be owner/u);
  });

  it('are not for the platform role, which knows the list of tenants and the names of keys alone', async () => {
    const granted = await service.database.pool.query(`
      SELECT c.relname AS name, a.attname AS column, privilege
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped,
           unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS privilege
      WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'f', 'm', 'v') AND c.relname <> 'tenants' AND has_column_privilege('toolcrib_platform', c.oid, a.attnum, privilege) ORDER BY 1, 2`);
    expect(granted.rows).toEqual(['key_id', 'tenant_id'].map((column) => ({ name: 'api_keys', column, privilege: 'SELECT' })));
    const client = await service.database.pool.connect();
    try {
      for (const { name } of tables.filter((table) => table.name !== 'tenants')) {
        for (const sql of [`SELECT * FROM ${name}`, `DELETE FROM ${name}`, `TRUNCATE ${name} CASCADE`]) {
          await client.query('BEGIN');
          await client.query("SELECT set_config('role', 'toolcrib_platform', true)");
          await expect(client.query(sql)).rejects.toThrow(/permission denied/u);
          await client.query('ROLLBACK');
        }
      }
      await client.query('BEGIN');
      await client.query("SELECT set_config('role', 'toolcrib_platform', true)");
      expect((await client.query('SELECT id FROM tenants')).rowCount).toBeGreaterThan(1);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it('stand in no table without a forced policy for the service role', async () => {
    const { rows } = await service.database.pool.query(`
      SELECT c.relname, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
             EXISTS (SELECT FROM pg_policies p WHERE p.tablename = c.relname AND 'toolcrib_service' = ANY (p.roles)) AS has_policy
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'f', 'm', 'v') AND c.relname <> '_prisma_migrations' ORDER BY 1`);
    expect(rows).toEqual(tables.map(({ name }) => ({ relname: name, enabled: true, forced: true, has_policy: true })));
  });
});
