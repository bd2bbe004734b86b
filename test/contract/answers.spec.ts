import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerKey } from '../../src/decision/answer-key.js';
import type { AnswerKey, AnswerStore, SharedAnswer } from '../../src/decision/answer.store.js';
import { RedisAnswerStore } from '../../src/decision/redis-answer.store.js';
import { createLogger } from '../../src/platform/observability/logger.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { SharedRedis } from '../../src/platform/redis/redis.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import { MemoryAnswerStore } from '../support/memory-answer.store.js';

const redisServer = process.env['TEST_REDIS_URL'];
const PLATFORM_KEY = 'a-platform-key-of-the-answers-0123456789';

const connect = async (url: string, metrics = new Metrics()): Promise<SharedRedis> => {
  const redis = new SharedRedis(url, createLogger('silent'), metrics);
  for (let tries = 0; tries < 100 && !redis.isReachable; tries += 1) await sleep(20);
  return redis;
};

let keys = 0;
const newKey = (): AnswerKey => answerKey('t' as TenantId, { incarnation: `i${Date.now()}-${(keys += 1)}`, revision: 1 }, { agentId: 'm' }, null, 'en');
const answer: SharedAnswer = { body: Buffer.from(JSON.stringify({ toolNames: ['工具', '🧰'] })), outcome: 'ok' };

const found = async (store: AnswerStore, key: AnswerKey): Promise<SharedAnswer | null> => {
  for (let tries = 0; tries < 50; tries += 1) {
    const one = await store.find(key);
    if (one !== null) return one;
    await sleep(10);
  }
  return null;
};

const KINDS: readonly (readonly [string, () => Promise<{ store: AnswerStore; close: () => void }>])[] = [
  ['in memory', async () => ({ store: new MemoryAnswerStore(), close: () => undefined })],
  ...(redisServer === undefined ? [] : [['Redis', async () => {
    const redis = await connect(redisServer);
    return { store: new RedisAnswerStore(redis, PLATFORM_KEY, 'build', new Metrics()), close: () => redis.close() };
  }] as const]),
];

describe.each(KINDS)('shared answers, %s', (_name, open) => {
  let store: AnswerStore;
  let close = (): void => undefined;
  beforeAll(async () => ({ store, close } = await open()));
  afterAll(() => close());

  it('are found as they were kept, by whoever asks the same', async () => {
    const [ok, empty] = [newKey(), newKey()];
    store.keep(ok, answer);
    store.keep(empty, { body: Buffer.from('{}'), outcome: 'empty' });
    expect(await found(store, ok)).toEqual(answer);
    expect(await found(store, empty)).toEqual({ body: Buffer.from('{}'), outcome: 'empty' });
  });

  it('are not found by another question', async () => {
    store.keep(newKey(), answer);
    expect(await store.find(newKey())).toBeNull();
  });
});

(redisServer === undefined ? describe.skip : describe)('answers in Redis', () => {
  let redis: SharedRedis;
  let store: RedisAnswerStore;
  beforeAll(async () => {
    redis = await connect(redisServer ?? '');
    store = new RedisAnswerStore(redis, PLATFORM_KEY, 'build', new Metrics());
  });
  afterAll(() => redis.close());

  const stored = async (): Promise<{ key: AnswerKey; value: Buffer }> => {
    const key = newKey();
    store.keep(key, answer);
    await found(store, key);
    return { key, value: (await redis.run((commands) => commands.getBuffer(key))) ?? Buffer.alloc(0) };
  };
  const put = (key: AnswerKey, value: Buffer): Promise<unknown> => redis.run((commands) => commands.set(key, value));

  it('are none once a single bit has changed, wherever it is', async () => {
    const { key, value } = await stored();
    for (let at = 0; at < value.length; at += 1) {
      const damaged = Buffer.from(value);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
      await put(key, damaged);
      expect([at, await store.find(key)]).toEqual([at, null]);
    }
    await put(key, value);
    expect(await store.find(key)).toEqual(answer);
  });

  it('are none when they are cut short, empty, of another type or another question’s', async () => {
    const { key, value } = await stored();
    for (const length of [0, 1, 31, 32, 33, value.length - 1]) {
      await put(key, value.subarray(0, length));
      expect([length, await store.find(key)]).toEqual([length, null]);
    }
    const other = newKey();
    await put(other, value);
    expect(await store.find(other)).toBeNull();
    await redis.run((commands) => commands.del(key));
    await redis.run((commands) => commands.rpush(key, 'a list'));
    expect(await store.find(key)).toBeNull();
  });

  it.each([['somebody without the platform key', 'another-platform-key-0123456789-0123456789', 'build'], ['another build', PLATFORM_KEY, 'older']])('are none when %s made them', async (_, who, build) => {
    const stranger = new RedisAnswerStore(redis, who, build, new Metrics());
    const key = newKey();
    stranger.keep(key, answer);
    expect(await found(stranger, key)).toEqual(answer);
    expect(await store.find(key)).toBeNull();
  });

  it('are kept for a while, and no larger than what is worth carrying over', async () => {
    const { key } = await stored();
    expect(await redis.run((commands) => commands.ttl(key))).toBeGreaterThan(500);
    const large = newKey();
    store.keep(large, { body: Buffer.alloc(4 * 1024 * 1024 + 1), outcome: 'ok' });
    await sleep(200);
    expect(await redis.run((commands) => commands.exists(large))).toBe(0);
  });
});

describe('a Redis that is not there', () => {
  it('is no answer, and soon is not asked any more', async () => {
    const metrics = new Metrics();
    const redis = new SharedRedis('redis://127.0.0.1:1', createLogger('silent'), metrics);
    const store = new RedisAnswerStore(redis, PLATFORM_KEY, 'build', metrics);
    for (let i = 0; i < 5; i += 1) {
      store.keep(newKey(), answer);
      expect(await store.find(newKey())).toBeNull();
    }
    expect(redis.isReachable).toBe(false);
    expect(await metrics.registry.getSingleMetricAsString('toolcrib_breaker_state')).toMatch(/dependency="redis",state="open"\} 1/u);
    redis.close();
  });
});
