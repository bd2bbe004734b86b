import pg from 'pg';

/** Runs one statement with its values. */
export type Query = <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

const TIMEOUT_MS = 2_000;

/**
 * A connection of its own for small looks as the platform: whoever else waits for the database, for a lock or for a
 * connection, it answers whether the database is there. One that does not answer is given up and replaced.
 */
export class DatabaseLooks {
  constructor(private readonly pool: pg.Pool) {}

  async asPlatform<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    // A connection that breaks while it is lent says so as an event too, which would end the process unheard.
    const breaks = (error: Error): void => void (failure = error);
    client.on('error', breaks);
    try {
      await client.query('BEGIN READ ONLY');
      await client.query("SELECT set_config('role', 'toolcrib_platform', true)");
      const found = await work(async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => (await client.query<Row>(text, [...values])).rows);
      await client.query('COMMIT');
      return found;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.off('error', breaks);
      client.release(failure);
    }
  }

  async close(): Promise<void> {
    if (!this.pool.ended) await this.pool.end();
  }
}

export function lookPool(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS, application_name: 'toolcrib looks', keepAlive: true });
  // A connection that breaks while idle is replaced at the next look; unheard, it would end the process.
  pool.on('error', () => undefined);
  return pool;
}
