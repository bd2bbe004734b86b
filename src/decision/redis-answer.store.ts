import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Metrics } from '../platform/observability/metrics.js';
import type { Tracing } from '../platform/observability/tracing.js';
import { NO_TRACING } from '../platform/observability/tracing.js';
import type { SharedRedis } from '../platform/redis/redis.js';
import type { AnswerKey, SharedAnswer } from './answer.store.js';
import { AnswerStore } from './answer.store.js';

const SECONDS_KEPT = 600;
/** Beyond it, carrying an answer over costs more than computing it: see ADR 16. */
const MAX_BYTES = 4 * 1024 * 1024;
const SIGNATURE_BYTES = 32;
const OUTCOMES = ['ok', 'empty'] as const;

/**
 * A value is a signature, a byte for the outcome, and the body. The signature is over the name as well, by a key that only
 * replicas have: whoever can write to Redis can make them compute, and nothing else.
 */
export class RedisAnswerStore extends AnswerStore {
  override readonly isThere = true;
  private readonly secret: Buffer;

  constructor(
    private readonly redis: SharedRedis,
    platformKey: string,
    /** Of the program: what another build has answered is not what this one would. */
    build: string,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing = NO_TRACING,
  ) {
    super();
    this.secret = Buffer.from(hkdfSync('sha256', platformKey, build, 'toolcrib shared answers', SIGNATURE_BYTES));
  }

  override find(key: AnswerKey): Promise<SharedAnswer | null> {
    return this.tracing.span('cache', { 'toolcrib.cache.level': 'shared' }, async (tell) => {
      const [answer, outcome] = await this.look(key);
      this.metrics.cacheRequests.of('shared', outcome).inc();
      tell({ 'toolcrib.cache.outcome': outcome });
      return answer;
    });
  }

  private async look(key: AnswerKey): Promise<[answer: SharedAnswer | null, outcome: 'hit' | 'miss' | 'error']> {
    try {
      const value = await this.redis.run((commands) => commands.getBuffer(key));
      const answer = value && this.read(key, value);
      return [answer, answer === null ? 'miss' : 'hit'];
    } catch {
      return [null, 'error'];
    }
  }

  override keep(key: AnswerKey, { body, outcome }: SharedAnswer): void {
    if (body.length > MAX_BYTES) return;
    const end = this.metrics.cacheFillSeconds.startTimer({ level: 'shared' });
    const content = Buffer.concat([Buffer.of(OUTCOMES.indexOf(outcome)), body]);
    this.redis.run((commands) => commands.set(key, Buffer.concat([this.sign(key, content), content]), 'EX', SECONDS_KEPT)).then(() => end(), () => undefined);
  }

  private read(key: AnswerKey, value: Buffer): SharedAnswer | null {
    if (value.length <= SIGNATURE_BYTES) return null;
    const content = value.subarray(SIGNATURE_BYTES);
    const outcome = OUTCOMES[content[0] ?? OUTCOMES.length];
    const isOurs = timingSafeEqual(value.subarray(0, SIGNATURE_BYTES), this.sign(key, content));
    return isOurs && outcome !== undefined ? { body: content.subarray(1), outcome } : null;
  }

  private sign(key: AnswerKey, content: Buffer): Buffer {
    return createHmac('sha256', this.secret).update(key).update('\n').update(content).digest();
  }
}
