import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { newPostgresUrl, postgresServer } from '../support/databases.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, spawnService } from '../support/process.js';
import type { Proxy } from '../support/proxy.js';
import { proxyTo } from '../support/proxy.js';

const KEY = 'a-platform-key-for-the-away-tests-000001';

(postgresServer === undefined ? describe.skip : describe)('while PostgreSQL is away', () => {
  let service: ServiceProcess;
  let proxy: Proxy;
  afterEach(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    await proxy.cut();
  });

  const setUp = async (staleness: string) => {
    proxy = await proxyTo(await newPostgresUrl(postgresServer ?? ''));
    service = spawnService({ DATABASE_URL: proxy.url, TOOLCRIB_PLATFORM_KEY: KEY, TOOLCRIB_MAX_STALENESS_MS: staleness });
    const url = await listening(service);
    for (let tries = 0; tries < 100 && (await ask(url, null, 'GET', '/health/ready')).status !== 200; tries += 1) await sleep(100);
    await ask(url, KEY, 'POST', '/v1/tenants', { tenantId: 'acme', name: 'Acme' });
    const { body } = await ask(url, KEY, 'POST', '/v1/keys', { name: 'all', scopes: ['admin'] }, { 'x-tenant-id': 'acme' });
    const send = (method: string, route: string, sent?: unknown) => ask(url, body.key, method, route, sent);
    await send('POST', '/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }] });
    await send('PUT', '/v1/agents/m', {});
    expect((await send('POST', '/v1/decide', { agentId: 'm' })).body).toMatchObject({ freshness: 'fresh', toolNames: ['a'] });
    return { url, send };
  };

  // A write that hung may have gone through all the same: then the agent is there (428), which only its answer did not tell.
  it.each(['cut', 'hang'] as const)('(%s) decisions go on, told as stale, writes are refused, and all is well by itself afterwards', async (how) => {
    const { url, send } = await setUp('30000');
    await proxy[how]();
    // Longer than an answer counts as fresh.
    await sleep(1_200);
    const decided = await send('POST', '/v1/decide', { agentId: 'm' });
    expect(decided.body).toMatchObject({ freshness: 'stale', staleForMs: expect.any(Number), toolNames: ['a'] });
    for (let i = 0; i < 20; i += 1) expect((await send('POST', '/v1/check', { agentId: 'm', toolName: 'a' })).body.allowed).toBe(true);
    const written = await send('PUT', '/v1/agents/n', {});
    expect([written.status, written.body.code, written.headers.get('retry-after')]).toEqual([503, 'DATABASE_UNAVAILABLE', '1']);
    expect((await ask(url, null, 'GET', '/health/ready')).body).toEqual({ status: 'degraded', database: 'unreachable', redis: 'off' });
    await proxy.restore();
    let saved = 0;
    for (let tries = 0; tries < 60 && saved !== 201 && saved !== 428; tries += 1) {
      ({ status: saved } = await send('PUT', '/v1/agents/n', {}));
      await sleep(250);
    }
    expect((await send('POST', '/v1/decide', { agentId: 'n' })).body).toMatchObject({ freshness: 'fresh', toolNames: ['a'] });
    expect((await ask(url, null, 'GET', '/health/ready')).body).toEqual({ status: 'ready', database: 'up', redis: 'off' });
  });

  it('nothing is answered beyond the bound, and readiness says so', async () => {
    const { url, send } = await setUp('1500');
    await proxy.cut();
    await sleep(2_500);
    expect((await send('POST', '/v1/decide', { agentId: 'm' })).status).toBe(503);
    expect((await ask(url, null, 'GET', '/health/ready')).status).toBe(503);
    expect((await ask(url, null, 'GET', '/health/live')).status).toBe(200);
    await proxy.restore();
    for (let tries = 0; tries < 60 && (await ask(url, null, 'GET', '/health/ready')).status !== 200; tries += 1) await sleep(250);
    expect((await send('POST', '/v1/decide', { agentId: 'm' })).body).toMatchObject({ freshness: 'fresh' });
  });

  it('a connection that breaks at any moment ends nothing but its own work', async () => {
    const { send } = await setUp('30000');
    for (let i = 0; i < 40; i += 1) {
      await proxy.cut();
      await proxy.restore();
      const until = performance.now() + 150;
      while (performance.now() < until) expect((await send('POST', '/v1/decide', { agentId: 'm' })).status).toBe(200);
    }
    expect(service.child.exitCode).toBeNull();
  });
});
