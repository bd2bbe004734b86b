import type { Logger } from '../observability/logger.js';
import type { TenantId } from '../tenant-id.js';

/** Removes what a tenant keeps no longer. */
export interface SweepJob {
  readonly name: string;
  /** Removes up to `batch` and answers how many: fewer than that means that nothing is left to remove now. */
  readonly sweep: (tenant: TenantId, batch: number) => Promise<number>;
}

export interface SweptTenants {
  /** By id, those after `after`. */
  list(after: string | null, limit: number): Promise<readonly { readonly tenantId: TenantId }[]>;
}

const EVERY_MS = 3_600_000;
/** A batch is one short transaction, so that nobody waits for it. */
const BATCH = 200;
const PAGE = 100;

/** Goes through all tenants about once an hour, a small batch at a time. Replicas need not agree: what one has removed another does not find. */
export class Sweeper {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | null = null;
  private isStopping = false;

  constructor(
    private readonly tenants: SweptTenants,
    private readonly jobs: readonly SweepJob[],
    private readonly logger: Logger,
    private readonly everyMs = EVERY_MS,
    /** From 0 to 1: replicas that start together do not sweep together. */
    private readonly jitter: () => number = Math.random,
  ) {}

  start(): void {
    if (this.isStopping) return;
    this.timer = setTimeout(() => void this.sweepAll().finally(() => this.start()), this.everyMs * (0.5 + this.jitter()));
    this.timer.unref();
  }

  /** Ends after the batch that is under way. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Once through all tenants, and never twice at a time. A job that fails is told in the log and begins again the next time. */
  sweepAll(): Promise<void> {
    this.running ??= this.throughTenants()
      .catch((error: unknown) => this.logger.warn({ err: error }, 'sweeping ended early'))
      .finally(() => {
        this.running = null;
      });
    return this.running;
  }

  private async throughTenants(): Promise<void> {
    for (let after: string | null = null; !this.isStopping;) {
      const page: readonly { readonly tenantId: TenantId }[] = await this.tenants.list(after, PAGE);
      for (const { tenantId } of page) for (const job of this.jobs) await this.run(job, tenantId);
      after = page.at(-1)?.tenantId ?? null;
      if (page.length < PAGE) return;
    }
  }

  private async run({ name, sweep }: SweepJob, tenant: TenantId): Promise<void> {
    let removed = 0;
    try {
      for (let swept = BATCH; swept >= BATCH && !this.isStopping;) {
        swept = await sweep(tenant, BATCH);
        removed += swept;
      }
    } catch (error) {
      this.logger.warn({ err: error, tenant, job: name }, 'sweeping failed');
    }
    if (removed > 0) this.logger.info({ tenant, job: name, removed }, 'swept');
  }
}
