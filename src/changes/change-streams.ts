import type { ServerResponse } from 'node:http';
import type { OnModuleDestroy } from '@nestjs/common';
import { AppError } from '../platform/errors/app-error.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { ChangeFeed } from './change-feed.js';
import type { Seat } from './channel.js';
import { EventStream } from './event-stream.js';
import { HEARTBEAT, openingFrame } from './frames.js';

export interface StreamOptions {
  /** Open in this process at once. */
  readonly most: number;
  readonly heartbeatMs: number;
  /** A client with more than this unsent when the next event comes is cut off. */
  readonly unsentBytes: number;
}

export const STREAM_DEFAULTS = { heartbeatMs: 15_000, unsentBytes: 256 * 1024 } as const;

/** What a stream needs of the request that opens it. */
export interface Opening {
  /** Sends the headers, which tell the revision. */
  readonly respond: (revision: number) => ServerResponse;
  /** Calls back when the request would be admitted no longer; answers how to stop watching. */
  readonly watch: (end: (why: 'key' | 'stale') => void) => () => void;
}

/** All open streams of this process: their number, their heartbeat, and their end with it. */
export class ChangeStreams implements OnModuleDestroy {
  private readonly open = new Set<EventStream>();
  private opening = 0;
  private isStopped = false;
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly feed: ChangeFeed,
    private readonly metrics: Metrics,
    private readonly options: StreamOptions,
  ) {}

  /** Nothing is sent before it is certain that the stream can be. */
  async begin(tenant: TenantId, after: number | null, opening: Opening): Promise<void> {
    this.requireRoom();
    this.opening += 1;
    const seat = await this.feed.join(tenant).finally(() => (this.opening -= 1));
    if (this.isStopped) throw stopping();
    this.start(seat, after, opening);
  }

  /** Streams end before the server is asked to finish what runs: they would never do so by themselves. */
  onModuleDestroy(): void {
    this.isStopped = true;
    clearInterval(this.heartbeat);
    this.feed.stop('shutdown');
  }

  private requireRoom(): void {
    if (this.isStopped) throw stopping();
    if (this.open.size + this.opening >= this.options.most) throw new AppError('TOO_MANY_STREAMS', `${this.options.most} streams are open here`);
  }

  /** In one go: what commits after the headers is told. */
  private start(seat: Seat, after: number | null, { respond, watch }: Opening): void {
    const response = respond(seat.revision);
    const stream: EventStream = new EventStream(response, this.options.unsentBytes, (why) => {
      unwatch();
      seat.leave();
      this.open.delete(stream);
      this.metrics.changeStreams.set(this.open.size);
      this.metrics.changeStreamsEnded.inc({ reason: why });
    });
    const unwatch = watch((why) => stream.end(why));
    this.open.add(stream);
    this.metrics.changeStreams.set(this.open.size);
    // It left while the place was sought, and will not do so again.
    if (response.destroyed) {
      stream.end('client');
      return;
    }
    this.heartbeat ??= setInterval(() => this.beat(), this.options.heartbeatMs).unref();
    stream.send(openingFrame(after === null ? seat.revision : null));
    seat.take(stream, after);
  }

  private beat(): void {
    for (const stream of this.open) stream.send(HEARTBEAT);
  }
}

const stopping = (): AppError => new AppError('TOO_MANY_STREAMS', 'the service is stopping');
