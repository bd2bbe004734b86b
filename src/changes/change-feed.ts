import type { RevisionLoader } from '../invalidation/revision.loader.js';
import { within } from '../platform/errors/within.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { ChangeStore } from './change.store.js';
import type { ChannelOptions, Ending, Seat } from './channel.js';
import { Channel } from './channel.js';

export interface FeedOptions extends ChannelOptions {
  /** Between two looks at all tenants with listeners: what a lost message costs at the most. */
  readonly everyMs: number;
}

/** A catch-up of more than a thousand events costs more than reading anew what they are about. */
export const FEED_DEFAULTS = { most: 1_000, everyMs: 500, now: () => performance.now() } as const;

const LOOK_TIMEOUT_MS = 2_000;

/** The changes of every tenant that somebody listens to in this process. Who listens to none costs nothing. */
export class ChangeFeed {
  private readonly channels = new Map<TenantId, Channel>();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly store: ChangeStore,
    private readonly revisions: Pick<RevisionLoader, 'points'>,
    private readonly metrics: Metrics,
    private readonly options: FeedOptions,
  ) {}

  /** There may be a new revision. Harmless when there is none, when it was told already, and however often. */
  note(tenant: TenantId): void {
    this.channels.get(tenant)?.note();
  }

  /** A place at the tenant's present revision. Throws `TENANT_NOT_FOUND`, and when the database is away. */
  async join(tenant: TenantId): Promise<Seat> {
    const channel = this.channelOf(tenant);
    const seat = await channel.join();
    // It found that the tenant it was for is gone: there may be another one of that id.
    return channel.isClosed && !this.isStopped ? this.join(tenant) : seat;
  }

  /** Ends all that is told, for good. */
  stop(why: Ending): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    for (const channel of [...this.channels.values()]) channel.close(why);
  }

  private channelOf(tenant: TenantId): Channel {
    const known = this.channels.get(tenant);
    if (known !== undefined) return known;
    const channel: Channel = new Channel(tenant, this.store, this.metrics, this.options, () => {
      if (this.channels.get(tenant) === channel) this.channels.delete(tenant);
    });
    this.channels.set(tenant, channel);
    this.timer ??= this.schedule();
    return channel;
  }

  private schedule(): NodeJS.Timeout | undefined {
    if (this.isStopped || this.channels.size === 0) return undefined;
    return setTimeout(() => void this.look().finally(() => (this.timer = this.schedule())), this.options.everyMs).unref();
  }

  /** Finds what no message told of: writes of other replicas, tenants that were deleted. One statement for all. */
  private async look(): Promise<void> {
    const lookedAt = this.options.now();
    const channels = [...this.channels];
    try {
      const points = await within(LOOK_TIMEOUT_MS, this.revisions.points(channels.map(([tenant]) => tenant)));
      for (const [tenant, channel] of channels) channel.check(points.get(tenant), lookedAt);
    } catch {
      for (const [, channel] of channels) channel.noteFailure();
    }
  }
}
