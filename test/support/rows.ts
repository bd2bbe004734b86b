import type pg from 'pg';

/** A table of the schema, and which column says whose a row is. */
export interface TenantTable {
  readonly name: string;
  readonly tenantColumn: string;
  /** All that a row needs, in order. */
  readonly columns: readonly string[];
}

/** Every table that the catalog knows, so that a new one is covered by being there. One that belongs to no tenant is an error. */
export async function tenantTables(pool: pg.Pool): Promise<TenantTable[]> {
  const { rows } = await pool.query<{ name: string; columns: string[] }>(`
    SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'f', 'm', 'v') AND c.relname <> '_prisma_migrations' GROUP BY c.relname ORDER BY c.relname`);
  return rows.map(({ name, columns }) => {
    const tenantColumn = name === 'tenants' ? 'id' : 'tenant_id';
    if (!columns.includes(tenantColumn)) throw new Error(`\`${name}\` has no \`${tenantColumn}\`: whose are its rows?`);
    return { name, tenantColumn, columns };
  });
}

/** All rows of one tenant, or of all, as the database's owner sees them. */
export async function rowsOf(pool: pg.Pool, tenantId: string | null): Promise<string[]> {
  const found: string[] = [];
  for (const { name, tenantColumn } of await tenantTables(pool)) {
    const { rows } = await pool.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t WHERE $1::text IS NULL OR ${tenantColumn} = $1 ORDER BY 1`, [tenantId]);
    found.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return found;
}
