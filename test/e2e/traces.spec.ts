import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { CollectedSpan, Collector } from '../support/collector.js';
import { startCollector } from '../support/collector.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, madeDataDir, spawnService } from '../support/process.js';

const KEY = 'a-platform-key-for-the-trace-tests-00001';
const SERVER = 2;
const CALLER = '00f067aa0ba902b7';
/** Prints at the end how many of OpenTelemetry's files were loaded; those of its API alone come with the metrics. */
const TELL_LOADED = `data:text/javascript,${encodeURIComponent('import { createRequire } from "node:module"; process.on("exit", () => console.log("loaded:" + Object.keys(createRequire("file:///").cache).filter((file) => /@opentelemetry.(?!api.)/u.test(file)).length))')}`;

let traces = 0;
/** A trace of the caller's own. */
function newTrace(flags = '01'): { traceId: string; headers: Record<string, string> } {
  traces += 1;
  const traceId = String(traces).padStart(32, 'a');
  return { traceId, headers: { traceparent: `00-${traceId}-${CALLER}-${flags}` } };
}

interface Running extends ServiceProcess {
  readonly url: string;
  readonly lines: () => any[];
  readonly post: (route: string, body: unknown, headers?: Record<string, string>) => Promise<{ status: number; body: any; headers: Headers }>;
}

async function start(environment: Record<string, string>): Promise<Running> {
  const service = spawnService({ TOOLCRIB_DATA_DIR: await madeDataDir(), TOOLCRIB_PLATFORM_KEY: KEY, LOG_LEVEL: 'debug', NODE_OPTIONS: `--import ${TELL_LOADED}`, ...environment });
  const url = await listening(service);
  const send = (method: string, route: string, body: unknown): Promise<{ status: number; body: any }> => ask(url, KEY, method, route, body, { 'x-tenant-id': 'acme' });
  expect((await send('POST', '/v1/tenants', { tenantId: 'acme', name: 'Acme' })).status).toBe(201);
  expect((await send('POST', '/v1/tools/sync', { source: 's', tools: [{ name: 'read_file', description: 'd', isCore: true }] })).status).toBe(200);
  expect((await send('PUT', '/v1/agents/helper', {})).status).toBe(201);
  const { body: { key } } = await send('POST', '/v1/keys', { name: 'runtime', scopes: ['decide'] });
  return {
    ...service,
    url,
    lines: () => service.output().split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)),
    post: (route, body, headers) => ask(url, key, 'POST', route, body, headers),
  };
}

async function end({ child, ended }: ServiceProcess): Promise<unknown> {
  child.kill('SIGTERM');
  return ended;
}

const one = (spans: readonly CollectedSpan[], name: string): CollectedSpan | undefined => spans.find((span) => span.name === name);

describe('traces, where a collector is named', () => {
  let collector: Collector;
  let service: Running;
  beforeAll(async () => {
    collector = await startCollector();
    service = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=collector-secret',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
  });
  afterAll(async () => {
    await collector.stop();
    await end(service);
  });

  const ended = (route: string) => ({ name, kind }: CollectedSpan): boolean => kind === SERVER && name === `POST ${route}`;

  it('go from the caller by the decision and the cache to the database', async () => {
    const { traceId, headers } = newTrace();
    expect((await service.post('/v1/decide', { agentId: 'helper' }, headers)).status).toBe(200);
    const spans = await collector.traceWith(traceId, ended('/v1/decide'));
    const decide = one(spans, 'POST /v1/decide');
    const cache = one(spans, 'cache');
    expect(decide).toMatchObject({ kind: SERVER, parentSpanId: CALLER, status: 0 });
    expect(decide?.attributes).toEqual({
      'http.request.method': 'POST', 'http.route': '/v1/decide', 'http.response.status_code': 200,
      'toolcrib.tenant': 'acme', 'toolcrib.agent': 'helper', 'toolcrib.revision': expect.any(Number), 'toolcrib.outcome': 'ok', 'toolcrib.freshness': 'fresh', 'toolcrib.road': 'ordinary',
    });
    expect(cache).toMatchObject({ parentSpanId: decide?.spanId, attributes: { 'toolcrib.cache.level': 'view', 'toolcrib.cache.outcome': 'miss' } });
    const database = spans.filter(({ name, parentSpanId }) => name === 'database' && parentSpanId === cache?.spanId);
    expect(database.map(({ attributes }) => attributes)).toContainEqual({ 'db.system.name': 'postgresql', 'db.operation.name': 'transaction' });
    expect(collector.resources()[0]).toMatchObject({ 'service.name': 'toolcrib', 'deployment.environment.name': 'test' });
    expect(collector.received[0]).toMatchObject({ path: '/v1/traces', headers: { authorization: 'collector-secret' } });
  });

  it('tell of the road ahead of the framework, which asks no database', async () => {
    const question = { agentId: 'helper', context: { scene: 'chat' } };
    // Its view is fresh for a while, and an answer is kept from its second time on.
    for (let tries = 0; tries < 20; tries += 1) {
      const { traceId, headers } = newTrace();
      await service.post('/v1/decide', question, headers);
      const spans = await collector.traceWith(traceId, ended('/v1/decide'));
      const decide = one(spans, 'POST /v1/decide');
      const hits = spans.filter(({ name, attributes }) => name === 'cache' && attributes['toolcrib.cache.outcome'] === 'hit');
      if (hits.length < 2) continue;
      expect(decide?.attributes).toMatchObject({ 'toolcrib.road': 'ahead', 'toolcrib.agent': 'helper', 'toolcrib.tenant': 'acme', 'http.response.status_code': 200 });
      expect(hits.map(({ parentSpanId, attributes }) => [parentSpanId, attributes['toolcrib.cache.level']])).toEqual([[decide?.spanId, 'view'], [decide?.spanId, 'answer']]);
      expect(spans).toHaveLength(3);
      return;
    }
    throw new Error('no answer came out of the memo');
  });

  it('tell of checks and batches, each item once', async () => {
    const check = newTrace();
    await service.post('/v1/check', { agentId: 'helper', toolName: 'read_file', arguments: { path: 'argument-secret' } }, check.headers);
    expect(one(await collector.traceWith(check.traceId, ended('/v1/check')), 'POST /v1/check')?.attributes).toMatchObject({ 'toolcrib.outcome': 'allowed', 'toolcrib.agent': 'helper' });
    const batch = newTrace();
    await service.post('/v1/decide/batch', { requests: Array.from({ length: 20 }, () => ({ agentId: 'helper' })) }, batch.headers);
    const spans = await collector.traceWith(batch.traceId, ended('/v1/decide/batch'));
    expect(spans.filter(({ name, attributes }) => name === 'cache' && attributes['toolcrib.cache.outcome'] === 'hit').length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['a decision that fails', '/v1/decide', { agentId: 'nobody' }, {}, 404],
    ['a body that is not read', '/v1/decide', 'no object', {}, 422],
    ['a body of another type', '/v1/decide', {}, { 'content-type': 'text/plain' }, 415],
    ['another tenant', '/v1/decide', { agentId: 'helper' }, { 'x-tenant-id': 'other' }, 404],
    ['no route', '/v1/nothing', {}, {}, 404],
  ])('name the trace in the problem and in the log: %s', async (_, route, body, more, status) => {
    const { traceId, headers } = newTrace();
    const failed = await service.post(route, body, { ...headers, ...more });
    expect([failed.status, failed.body.traceId]).toEqual([status, traceId]);
    const [span] = await collector.traceWith(traceId, ({ kind }) => kind === SERVER);
    expect(span?.traceId).toBe(traceId);
    for (let tries = 0; tries < 50 && !service.lines().some((line) => line.traceId === traceId); tries += 1) await sleep(20);
    expect(service.lines().filter((line) => line.traceId === traceId)).toEqual([expect.objectContaining({ msg: 'request', status, requestId: failed.body.requestId })]);
  });

  it('begin here where the caller has none, and are not recorded where the caller says so', async () => {
    const own = await service.post('/v1/decide', { agentId: 'nobody' }, { traceparent: 'rubbish' });
    expect(own.body.traceId).toMatch(/^[0-9a-f]{32}$/u);
    expect(one(await collector.traceWith(own.body.traceId, ended('/v1/decide')), 'POST /v1/decide')?.parentSpanId).toBe('');
    const unsampled = newTrace('00');
    expect((await service.post('/v1/decide', { agentId: 'nobody' }, unsampled.headers)).body.traceId).toBe(unsampled.traceId);
    const later = newTrace();
    await ask(service.url, null, 'GET', '/health/live', undefined, later.headers);
    await service.post('/v1/decide', { agentId: 'helper' }, later.headers);
    const spans = await collector.traceWith(later.traceId, ended('/v1/decide'));
    expect(spans.filter(({ kind }) => kind === SERVER)).toHaveLength(1);
    expect(collector.spans().filter(({ traceId }) => traceId === unsampled.traceId)).toEqual([]);
  });

  it('hold no key, no argument and no attribute, and what runs by itself makes none', async () => {
    await service.post('/v1/decide', { agentId: 'helper', context: { attributes: { who: 'attribute-secret' } } });
    await sleep(300);
    const all = collector.received.map(({ body }) => body.toString('utf8')).join('\n');
    expect(all).toContain('toolcrib.agent');
    expect(all).not.toMatch(/argument-secret|attribute-secret|tck_|collector-secret|trace-tests/u);
    const known = new Set(collector.spans().map(({ spanId }) => spanId));
    expect(collector.spans().filter(({ kind, parentSpanId }) => kind !== SERVER && !known.has(parentSpanId))).toEqual([]);
  });
});

describe('traces', () => {
  const running: ServiceProcess[] = [];
  const collectors: Collector[] = [];
  const run = async (environment: Record<string, string>): Promise<Running> => {
    const service = await start(environment);
    running.push(service);
    return service;
  };
  const collect = async (mode: Collector['mode']): Promise<Collector> => {
    const collector = await startCollector();
    collector.mode = mode;
    collectors.push(collector);
    return collector;
  };
  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
    for (const collector of collectors.splice(0)) await collector.stop();
  });
  const loaded = ({ output }: ServiceProcess): number => Number(/^loaded:(\d+)$/mu.exec(output())?.[1] ?? NaN);

  it('are off without a collector, and then nothing of theirs is loaded', async () => {
    const service = await run({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' });
    const { headers } = newTrace();
    const failed = await service.post('/v1/decide', { agentId: 'nobody' }, headers);
    expect([failed.status, 'traceId' in failed.body]).toEqual([404, false]);
    expect(await end(service)).toBe(0);
    expect(loaded(service)).toBe(0);
    expect(service.output()).not.toContain('traceId');
  });

  it('that wait are sent when the service ends, as protobuf where nothing else is said', async () => {
    const collector = await collect('takes');
    const service = await run({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path`, OTEL_BSP_SCHEDULE_DELAY: '60000' });
    await service.post('/v1/decide', { agentId: 'helper' });
    expect(collector.received).toEqual([]);
    expect(await end(service)).toBe(0);
    expect(loaded(service)).toBeGreaterThan(0);
    expect(collector.received.map(({ path, headers }) => [path, headers['content-type']])).toContainEqual(['/own/path', 'application/x-protobuf']);
    expect(Buffer.concat(collector.received.map(({ body }) => body)).includes('POST /v1/decide')).toBe(true);
  });

  it.each(['hangs', 'is away'] as const)('are let go where the collector %s: nobody waits, and it is told once', async (what) => {
    const collector = await collect(what === 'is away' ? 'takes' : what);
    if (what === 'is away') await collector.stop();
    const service = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '300', OTEL_BSP_SCHEDULE_DELAY: '20', OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5' });
    const began = performance.now();
    for (let i = 0; i < 100; i += 1) expect((await service.post('/v1/decide', { agentId: 'helper', context: { attributes: { i } } })).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(20_000);
    const warnings = (): any[] => service.lines().filter(({ msg }) => msg === 'traces are not sent as they should be');
    for (let tries = 0; tries < 100 && warnings().length === 0; tries += 1) await sleep(50);
    await sleep(1_000);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toMatchObject({ level: 40, reason: expect.any(String) });
    const ending = performance.now();
    expect(await end(service)).toBe(0);
    expect(performance.now() - ending).toBeLessThan(9_000);
  });
});
