import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnswerKey } from '../../src/decision/answer.store.js';
import { RedisAnswerStore } from '../../src/decision/redis-answer.store.js';
import { createLogger } from '../../src/platform/observability/logger.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { openTracing } from '../../src/platform/observability/open-tracing.js';
import type { Tracing } from '../../src/platform/observability/tracing.js';
import { SharedRedis } from '../../src/platform/redis/redis.js';
import type { Collector } from '../support/collector.js';
import { startCollector } from '../support/collector.js';

describe('traces of what replicas share', () => {
  let collector: Collector;
  let tracing: Tracing;
  let redis: SharedRedis;
  let server: http.Server;
  let url: string;
  beforeAll(async () => {
    collector = await startCollector();
    Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
    const [logger, metrics] = [createLogger('silent'), new Metrics()];
    tracing = await openTracing(process.env, logger);
    redis = new SharedRedis('redis://127.0.0.1:1', logger, metrics, tracing);
    const store = new RedisAnswerStore(redis, 'k'.repeat(32), 'build', metrics, tracing);
    server = http.createServer((request, response) => {
      tracing.serve(request, response, () => void store.find('a-key-secret' as AnswerKey).then((answer) => {
        response.end(JSON.stringify(answer));
        tracing.end(request, { method: 'GET', route: '/find', status: 200, tenant: null });
      }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_PROTOCOL']) Reflect.deleteProperty(process.env, name);
    redis.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await collector.stop();
  });

  it('tell that Redis was asked in vain, beneath the cache, and not by which name', async () => {
    expect(await (await fetch(url)).text()).toBe('null');
    await tracing.close();
    const [request, cache, command] = ['GET /find', 'cache', 'redis'].map((name) => collector.spans().find((span) => span.name === name));
    expect(cache).toMatchObject({ parentSpanId: request?.spanId, status: 0, attributes: { 'toolcrib.cache.level': 'shared', 'toolcrib.cache.outcome': 'error' } });
    expect(command).toMatchObject({ parentSpanId: cache?.spanId, status: 2, attributes: { 'db.system.name': 'redis', 'error.type': expect.any(String) } });
    expect(collector.received.map(({ body }) => body.toString()).join()).not.toContain('a-key-secret');
  });
});
