import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { SharedRedis } from '../platform/redis/redis.js';
import type { RateCount } from './rate.store.js';
import { RateStore } from './rate.store.js';

export class RedisRateStore extends RateStore {
  override readonly isThere = true;
  private limiter: RateLimiterRedis | undefined;

  constructor(
    private readonly redis: SharedRedis,
    private readonly windowSeconds: number,
  ) {
    super();
  }

  override async add(name: string, requests: number): Promise<RateCount> {
    const { consumedPoints, msBeforeNext } = await this.redis.run((storeClient) => {
      this.limiter ??= new RateLimiterRedis({ storeClient, keyPrefix: 'toolcrib:rate', points: Number.MAX_SAFE_INTEGER, duration: this.windowSeconds });
      return this.limiter.penalty(name, requests);
    });
    return { count: consumedPoints, endsInMs: msBeforeNext };
  }
}
