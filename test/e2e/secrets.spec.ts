import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { newPostgresUrl, postgresServer } from '../support/databases.js';
import { openStream, until } from '../support/event-client.js';
import type { Ids, Operation } from '../support/operations.js';
import { fill, operationsOf } from '../support/operations.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, madeDataDir, spawnService } from '../support/process.js';
import type { Proxy } from '../support/proxy.js';
import { proxyTo } from '../support/proxy.js';
import { keepSecret, leaks, overhear, overhearAnswer } from '../support/secrets.js';
import type { WireRequest } from '../support/wire.js';
import { Wire } from '../support/wire.js';

/** A new secret, which nobody may tell from now on. */
function secret(of: string): string {
  const text = `${of}-${randomBytes(12).toString('hex')}`;
  keepSecret(text);
  return text;
}

const IDS: Ids = { tenantId: 'acme', keyId: 'AAAAAAAAAAAAAAAA', agentId: 'agent', tool: 'tool', goneTool: 'gone', conversationId: 'conversation', source: 'source', revision: '1' };
const TRACE = { LOG_LEVEL: 'trace' };
/** Nothing listens there. */
const NOBODY = '127.0.0.1:9';

/** Requests of one operation with a secret in every place that it has. */
function withSecrets(operation: Operation, key: string): WireRequest[] {
  const filled = fill(operation, IDS);
  const plain = { ...filled, headers: { authorization: `Bearer ${key}`, ...(operation.takesIfMatch && { 'if-match': '*' }) } };
  const body = filled.body === undefined ? {} : (JSON.parse(filled.body) as object);
  const headers: Record<string, string>[] = [
    { authorization: `Bearer ${secret('bearer')}` }, { authorization: `Bearer ${key.slice(0, -8)}${secret('tail')}` }, { authorization: `Basic ${Buffer.from(`me:${secret('basic')}`).toString('base64')}` }, { authorization: secret('bare') },
    { authorization: `Bearer eyJhbGciOiJSUzI1NiJ9.${secret('claims')}.${secret('signature')}` }, { authorization: `Bearer ${secret('two')} ${secret('words')}` }, { 'x-api-key': secret('header') }, { ...plain.headers, cookie: `session=${secret('cookie')}` },
    { ...plain.headers, 'x-tenant-id': secret('tenant') }, { ...plain.headers, 'if-match': `"${secret('etag')}"`, 'if-none-match': secret('etag') }, { ...plain.headers, 'last-event-id': secret('place') }, { ...plain.headers, 'accept-language': secret('language') },
    { ...plain.headers, 'x-request-id': `not an id: ${secret('id')}` }, { ...plain.headers, 'content-type': `text/plain; x=${secret('type')}` },
  ];
  const bodies = [
    JSON.stringify({ ...body, password: secret('member') }), JSON.stringify({ ...body, context: { attributes: { token: secret('attribute') }, session: secret('session') }, arguments: { q: secret('argument'), deep: [secret('argument')] } }),
    JSON.stringify(secret('text')), `{"key":"${secret('broken')}`, `{"n":1e999,"key":"${secret('number')}"}`, `${'['.repeat(100)}"${secret('deep')}"${']'.repeat(100)}`, `key=${secret('form')}`,
  ];
  const queries = ['api_key', 'access_token', 'cursor', 'limit', 'from', 'actor'].map((name) => `${name}=${encodeURIComponent(secret('query'))}`);
  return [
    plain,
    ...headers.map((one) => ({ ...plain, headers: one })),
    ...(filled.body === undefined ? [] : bodies.map((one) => ({ ...plain, body: one }))),
    ...queries.map((query) => ({ ...plain, path: `${filled.path}?${query}` })),
  ];
}

describe('keys, passwords and arguments', () => {
  const running: ServiceProcess[] = [];
  let proxy: Proxy | undefined;
  const start = (environment: Record<string, string>, args?: string[]): ServiceProcess => {
    const service = spawnService({ ...TRACE, ...environment }, args);
    running.push(service);
    return service;
  };
  const stopAll = async (): Promise<void> => {
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGTERM');
      await ended;
    }
  };
  afterEach(async () => {
    await proxy?.cut();
    proxy = undefined;
    await stopAll();
  });

  it('are not told by a process that can not start', async () => {
    const url = (scheme: string, rest: string): string => `${scheme}://user:${secret('password')}@${rest}`;
    const key = { TOOLCRIB_PLATFORM_KEY: secret('platform-key-0123456789') };
    const environments: readonly Record<string, string>[] = [
      { PORT: secret('port'), HOST: secret('host'), LOG_LEVEL: secret('level'), TOOLCRIB_MIGRATE: secret('migrate'), TOOLCRIB_MAX_TOOLS: secret('tools'), TOOLCRIB_PLATFORM_KEY: secret('k').slice(0, 20), DATABASE_URL: url('mysql', 'h/d'), REDIS_URL: url('http', 'h') },
      { ...key, DATABASE_URL: url('postgresql', 'h:port/d') },
      { ...key, DATABASE_URL: `postgresql://user:%zz${secret('password')}@${NOBODY}/d` },
      { ...key, DATABASE_URL: url('postgresql', '[::1/d') },
      { ...key, DATABASE_URL: `postgresql:///d?password=${secret('password')}&sslmode=${secret('mode')}&sslcert=/nowhere` },
      { ...key, TOOLCRIB_DATA_DIR: await madeDataDir(), REDIS_URL: url('redis', '[::1') },
      { ...key, TOOLCRIB_DATA_DIR: await madeDataDir(), REDIS_URL: `redis://:%zz${secret('password')}@${NOBODY}` },
    ];
    for (const environment of environments) {
      const services = [start(environment), start(environment, ['migrate'])];
      await Promise.race([Promise.all(services.map(({ ended }) => ended)), sleep(4_000, undefined, { ref: false })]);
      await stopAll();
      for (const { output } of services) expect(output()).not.toMatch(/\n {4}at /u);
    }
    expect(leaks()).toEqual([]);
  });

  it('are not told while nothing that they open is there', async () => {
    const platformKey = secret('platform-key-0123456789');
    const environment = { DATABASE_URL: `postgresql://user:${secret('password')}@${NOBODY}/d`, REDIS_URL: `redis://user:${secret('password')}@${NOBODY}`, TOOLCRIB_PLATFORM_KEY: platformKey };
    expect(await start(environment, ['migrate']).ended).toBe(1);
    const url = await listening(start(environment));
    for (const route of ['/health/ready', '/v1/tenants', '/v1/agents', '/metrics']) await ask(url, platformKey, 'GET', route, undefined, { 'x-tenant-id': 'acme' });
    await ask(url, `tck_acme.AAAAAAAAAAAAAAAA.${randomBytes(32).toString('base64url')}`, 'POST', '/v1/decide', { agentId: 'agent' });
    await sleep(500);
    await stopAll();
    expect(leaks()).toEqual([]);
  });

  it('are not told by any operation, wherever they stand in a request, nor when the database breaks meanwhile', async () => {
    const platformKey = secret('platform-key-0123456789');
    let environment: Record<string, string> = { TOOLCRIB_DATA_DIR: await madeDataDir() };
    if (postgresServer !== undefined) {
      proxy = await proxyTo(await newPostgresUrl(postgresServer));
      const database = new URL(proxy.url);
      // The servers of the tests trust everybody.
      database.password = secret('password');
      environment = { DATABASE_URL: database.href };
    }
    if (process.env['TEST_REDIS_URL'] !== undefined) {
      const redis = new URL(process.env['TEST_REDIS_URL']);
      redis.password = secret('password');
      environment = { ...environment, REDIS_URL: redis.href };
    }
    const service = start({ ...environment, TOOLCRIB_PLATFORM_KEY: platformKey });
    const url = await listening(service);
    for (let tries = 0; tries < 100 && (await ask(url, null, 'GET', '/health/ready')).status !== 200; tries += 1) await sleep(100);
    const tenant = { 'x-tenant-id': IDS.tenantId };
    const post = (route: string, body: object, headers: Record<string, string> = tenant) => ask(url, platformKey, 'POST', route, body, headers);
    expect((await post('/v1/tenants', { tenantId: IDS.tenantId, name: 'Acme' }, {})).status).toBe(201);
    const { body: { key } } = await post('/v1/keys', { name: 'all', scopes: ['admin'] });
    await post('/v1/tools/sync', { source: IDS.source, tools: [{ name: IDS.tool, description: 'd', isCore: true, annotations: { apiToken: secret('annotation') }, extra: { password: secret('extra') } }] });
    await ask(url, platformKey, 'PUT', `/v1/agents/${IDS.agentId}`, {}, tenant);
    const operations = operationsOf(JSON.parse(readFileSync('openapi/openapi.json', 'utf8'))).filter(({ path }) => path !== '/v1/tenants/{id}');
    const wire = new Wire(url);
    const askAll = async (requests: readonly WireRequest[]): Promise<number[]> => {
      const statuses: number[] = [];
      for (const request of requests) {
        const { status, text } = await wire.send(request);
        overhearAnswer(request.method, request.path, status, text);
        statuses.push(status);
        // A minted key is shown, in that answer alone.
        if (request.method === 'POST' && request.path === '/v1/keys' && status === 201) keepSecret(JSON.parse(text).key);
      }
      return statuses;
    };
    const asked = operations.flatMap((operation) => withSecrets(operation, key));
    const statuses = await askAll(asked);
    expect(asked.length).toBeGreaterThan(800);
    expect([...new Set(statuses)].sort()).toEqual(expect.arrayContaining([200, 400, 401, 404, 415, 422]));
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    const stream = await openStream(url, key, { 'last-event-id': '0' });
    await until(() => stream.events.length > 1, 'the changes are told');
    stream.close();
    for (const route of ['/v1/history?limit=500', '/v1/history/1', '/v1/history/2', '/metrics', '/openapi.json']) {
      const answer = await wire.send({ method: 'GET', path: route, headers: { authorization: `Bearer ${key}` } });
      overhear(route, () => answer.text);
      expect(answer.status).toBe(200);
    }
    if (proxy !== undefined) {
      await proxy.cut();
      const broken = await askAll(operations.flatMap((operation) => withSecrets(operation, key).slice(0, 3)));
      expect(broken).toContain(503);
      await proxy.restore();
    }
    wire.close();
    // The log says something at all, at its most talkative.
    expect(service.output().split('\n').length).toBeGreaterThan(asked.length / 2);
    expect(leaks()).toEqual([]);
  });

  it('would be found, were they told', () => {
    const told = secret('told');
    let text = `{"headers":{"authorization":"Bearer ${told}"}}`;
    overhear('a log', () => text);
    expect(leaks()).toEqual([expect.stringContaining('a log tells `told-')]);
    text = '';
    expect(leaks()).toEqual([]);
  });
});
