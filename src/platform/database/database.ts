import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { AppError } from '../errors/app-error.js';
import { within } from '../errors/within.js';
import type { Tracing } from '../observability/tracing.js';
import { NO_TRACING } from '../observability/tracing.js';
import type { TenantId } from '../tenant-id.js';
import { Prisma, PrismaClient } from './generated/client.js';

export type Transaction = Prisma.TransactionClient;

/** Waiting for a connection, and for a whole transaction. */
const MAX_WAIT_MS = 5_000;
const TIMEOUT_MS = 30_000;

/** Of a transaction, whatever is in it: neither its text nor its values are told. */
const SPAN = { 'db.system.name': 'postgresql', 'db.operation.name': 'transaction' };

/** A server that hangs answers neither the work nor its end: the caller is told, and the transaction is left to its own end. */
const GIVE_UP_MS = 35_000;

/**
 * The one road to PostgreSQL, embedded or not. Each transaction acts as a role that row-level security binds, for one
 * tenant or for the platform; outside of a transaction nothing is readable.
 */
export class Database {
  private readonly prisma: PrismaClient;
  private ready = false;
  private warming = false;
  /** Told to whoever asks before it is ready. */
  notReadyBecause = 'the database is not there yet';
  /** While it is, nobody is sent there to wait: whoever finds out that it is back says so. */
  isAway = false;

  constructor(
    readonly pool: pg.Pool,
    private readonly tracing: Tracing = NO_TRACING,
  ) {
    // A connection that breaks while idle is replaced by the pool at the next use; unheard, it would end the process.
    pool.on('error', () => undefined);
    this.prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  }

  get isReady(): boolean {
    return this.ready;
  }

  /** What a process asks for the first time takes long: it is asked here before anyone waits for it. Whether it fails does not matter. */
  async warmUp(queries: () => Promise<unknown>): Promise<void> {
    this.warming = true;
    await queries().catch(() => undefined);
    this.warming = false;
  }

  /** Called once the tables are there. */
  markReady(): void {
    this.ready = true;
  }

  /** Runs `work` in a transaction that sees this tenant's rows alone. */
  inTenant<T>(tenant: TenantId, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transact(async (tx) => {
      await tx.$executeRaw`SELECT set_config('role', 'toolcrib_service', true), set_config('toolcrib.tenant_id', ${tenant}, true)`;
      return work(tx);
    });
  }

  /** Runs `work` in a transaction that sees the list of tenants and nothing of theirs. */
  asPlatform<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transact(async (tx) => {
      await tx.$executeRaw`SELECT set_config('role', 'toolcrib_platform', true)`;
      return work(tx);
    });
  }

  private transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (!this.ready && !this.warming) throw new AppError('DATABASE_UNAVAILABLE', this.notReadyBecause);
    if (this.isAway) throw new AppError('DATABASE_UNAVAILABLE', 'the database can not be reached: try again shortly');
    // Said each time, for a server may have another default.
    const isolationLevel = Prisma.TransactionIsolationLevel.ReadCommitted;
    return this.tracing.span('database', SPAN, () => within(GIVE_UP_MS, this.prisma.$transaction(work, { maxWait: MAX_WAIT_MS, timeout: TIMEOUT_MS, isolationLevel })));
  }

  /** Whether a query gets through now. */
  async ping(): Promise<void> {
    await this.pool.query('SELECT 1');
  }

  async close(): Promise<void> {
    this.ready = false;
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

/** For one statement of a request: many times what the largest sync takes. */
const QUERY_TIMEOUT_MS = 15_000;

export const connectionPool = (databaseUrl: string): pg.Pool =>
  new pg.Pool({ connectionString: databaseUrl, max: 10, connectionTimeoutMillis: 3_000, query_timeout: QUERY_TIMEOUT_MS, application_name: 'toolcrib', keepAlive: true });

/** One connection for migrations, which take as long as they take: a statement may rewrite a table, or wait while another process migrates. */
export const migrationPool = (databaseUrl: string): pg.Pool =>
  new pg.Pool({ connectionString: databaseUrl, max: 1, connectionTimeoutMillis: 3_000, application_name: 'toolcrib-migrate', keepAlive: true });
