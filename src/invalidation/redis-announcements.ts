import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Announcement } from '../platform/announcement.js';
import { readAnnouncement } from '../platform/announcement.js';
import type { SharedRedis } from '../platform/redis/redis.js';
import type { Listener } from './announcements.js';
import { Announcements } from './announcements.js';

const CHANNEL = 'toolcrib:announcements';
/** A connection that does not answer this is replaced, for a hung one brings no messages. */
const PULSE_MS = 2_000;

/** The fast road: some hundred microseconds from replica to replica. */
export class RedisAnnouncements extends Announcements {
  override readonly road = 'redis';
  private readonly stopping = new AbortController();
  private pulsing: Promise<void> | null = null;

  constructor(private readonly redis: SharedRedis) {
    super();
  }

  /** Nobody waits for it, and nothing depends on it. */
  publish(announcement: Announcement): void {
    this.redis.run((commands) => commands.publish(CHANNEL, JSON.stringify(announcement))).catch(() => undefined);
  }

  override start({ hear, gap }: Listener): void {
    const subscriber = this.redis.connect();
    subscriber.on('message', (_channel, text) => {
      const announcement = readAnnouncement(text);
      if (announcement !== null) hear(announcement);
    });
    subscriber.on('ready', () => {
      subscriber.subscribe(CHANNEL).then(gap, () => undefined);
    });
    this.pulsing = this.pulse(subscriber);
  }

  override async stop(): Promise<void> {
    this.stopping.abort();
    await this.pulsing;
  }

  private async pulse(subscriber: Redis): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await sleep(PULSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (subscriber.status === 'ready') await subscriber.ping().catch(() => subscriber.disconnect(true));
    }
  }
}
