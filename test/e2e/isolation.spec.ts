import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { DATABASES } from '../support/databases.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { newTenant, startTestService } from '../support/test-service.js';

const TENANT_TABLES = ['tenants', 'api_keys', 'tools', 'loading_categories', 'agents', 'conversations', 'history'];

describe.each(DATABASES)('rows of one tenant, seen from another in SQL, $name', (kind) => {
  let service: TestService;
  let mine: TestTenant;
  let theirs: TestTenant;
  beforeAll(async () => {
    service = await startTestService(kind);
    mine = await newTenant(service);
    theirs = await newTenant(service);
    for (const { caller } of [mine, theirs]) {
      await caller.post('/v1/tools/sync', { source: 's', categories: [{ key: 'k', label: 'K', whenToUse: 'w' }], tools: [{ name: 'secret_tool', description: 'd' }] });
      await caller.send('put', '/v1/agents/m', {});
      await caller.send('put', '/v1/conversations/c/tool-loading', { agentId: 'm' });
    }
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
  const idColumn = (table: string): string => (table === 'tenants' ? 'id' : 'tenant_id');

  it('are there at all', async () => {
    for (const table of TENANT_TABLES) {
      const { rows } = await service.database.pool.query(`SELECT DISTINCT ${idColumn(table)} AS id FROM ${table}`);
      expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining([mine.tenantId, theirs.tenantId]));
    }
  });

  it('are not to be read, whatever the query says', async () => {
    for (const table of TENANT_TABLES) {
      const seen = await asService(mine.tenantId, (client) => client.query(`SELECT ${idColumn(table)} AS id FROM ${table} WHERE ${idColumn(table)} = $1 OR true`, [theirs.tenantId]));
      expect(new Set(seen.rows.map(({ id }) => id))).toEqual(new Set([mine.tenantId]));
    }
  });

  it('are not to be read without a tenant either', async () => {
    for (const table of TENANT_TABLES) expect((await asService(null, (client) => client.query(`SELECT * FROM ${table}`))).rows).toEqual([]);
  });

  it('are not to be changed, deleted or planted', async () => {
    for (const table of TENANT_TABLES.slice(1)) {
      const deleted = await asService(mine.tenantId, (client) => client.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [theirs.tenantId]));
      expect(deleted.rowCount).toBe(0);
      const taken = asService(mine.tenantId, (client) => client.query(`UPDATE ${table} SET tenant_id = $1`, [theirs.tenantId]));
      await expect(taken).rejects.toThrow(table === 'history' ? /permission denied/u : /row-level security/u);
    }
    const renamed = await asService(mine.tenantId, (client) => client.query("UPDATE tenants SET name = 'x' WHERE id = $1", [theirs.tenantId]));
    expect(renamed.rowCount).toBe(0);
    const planted = asService(mine.tenantId, (client) => client.query("INSERT INTO agents (tenant_id, agent_id, document, origin, revision, updated_at) VALUES ($1, 'spy', '{}', 'native', 1, now())", [theirs.tenantId]));
    await expect(planted).rejects.toThrow(/row-level security/u);
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

  it('are not for the platform role, which knows the list of tenants alone', async () => {
    const client = await service.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query("SELECT set_config('role', 'toolcrib_platform', true)");
      expect((await client.query('SELECT id FROM tenants')).rowCount).toBeGreaterThan(1);
      await expect(client.query('SELECT * FROM agents')).rejects.toThrow(/permission denied/u);
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
      WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations' ORDER BY 1`);
    expect(rows).toEqual([...TENANT_TABLES].sort().map((relname) => ({ relname, enabled: true, forced: true, has_policy: true })));
  });
});
