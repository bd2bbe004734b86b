import { setTimeout as sleep } from 'node:timers/promises';
import net from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { newPostgresUrl, postgresServer } from '../support/databases.js';
import { openStream, until } from '../support/event-client.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, madeDataDir, spawnService } from '../support/process.js';
import { proxyTo } from '../support/proxy.js';

const KEY = 'a-platform-key-for-the-changes-tests-01';
const ACME = { 'x-tenant-id': 'acme' };

describe('a process with streams of changes', () => {
  const running: ServiceProcess[] = [];
  const undo: (() => Promise<unknown>)[] = [];
  const start = async (environment: Record<string, string>): Promise<{ url: string; service: ServiceProcess }> => {
    const service = spawnService({ TOOLCRIB_PLATFORM_KEY: KEY, ...environment });
    running.push(service);
    const url = await listening(service);
    for (let tries = 0; tries < 300 && (await ask(url, null, 'GET', '/health/ready')).status !== 200; tries += 1) await sleep(100);
    await ask(url, KEY, 'POST', '/v1/tenants', { tenantId: 'acme', name: 'Acme' });
    return { url, service };
  };
  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
    for (const end of undo.splice(0)) await end();
  });

  it('ends them at once on SIGTERM, also that of a client that does not read, and then itself', async () => {
    const { url, service } = await start({ TOOLCRIB_DATA_DIR: await madeDataDir() });
    const client = await openStream(url, KEY, ACME);
    const stalled = net.connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    stalled.write(`GET /v1/changes HTTP/1.1\r\nHost: x\r\nX-Tenant-Id: acme\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
    await new Promise((resolve) => stalled.once('data', resolve));
    stalled.pause();
    const tools = Array.from({ length: 5_000 }, (_, i) => ({ name: `${'n'.repeat(100)}${i}`, description: 'd' }));
    expect((await ask(url, KEY, 'POST', '/v1/tools/sync', { source: 's', tools }, ACME)).status).toBe(200);
    await until(() => client.events.length === 1, 'the sync is told');
    const begun = performance.now();
    service.child.kill('SIGTERM');
    await until(client.isEnded, 'the stream ends');
    expect(await service.ended).toBe(0);
    // Unfinished requests would be waited for eight seconds.
    expect(performance.now() - begun).toBeLessThan(6_000);
    stalled.destroy();
  });

  (postgresServer === undefined ? it.skip : it)('keeps them while PostgreSQL is away for less than the bound, tells all afterwards, and ends them beyond', async () => {
    const proxy = await proxyTo(await newPostgresUrl(postgresServer ?? ''));
    undo.push(() => proxy.cut());
    const { url } = await start({ DATABASE_URL: proxy.url, TOOLCRIB_MAX_STALENESS_MS: '6000' });
    const { body } = await ask(url, KEY, 'POST', '/v1/keys', { name: 'k', scopes: ['governance:write', 'decide'] }, ACME);
    const clients = await Promise.all([openStream(url, body.key), openStream(url, KEY, ACME)]);
    await proxy.cut();
    await sleep(2_000);
    const refused = await ask(url, body.key, 'GET', '/v1/changes');
    expect([refused.status, refused.headers.get('retry-after'), clients.some(({ isEnded }) => isEnded())]).toEqual([503, '1', false]);
    await proxy.restore();
    let saved = 0;
    for (let tries = 0; tries < 60 && saved !== 201; tries += 1) {
      ({ status: saved } = await ask(url, body.key, 'PUT', '/v1/agents/m', {}));
      await sleep(100);
    }
    await until(() => clients.every(({ events }) => events.length === 1), 'a write after the outage is told');
    for (const { events } of clients) expect(events).toEqual([{ event: 'revision', id: '1', data: { revision: 1, kind: 'agent', ids: ['m'] } }]);
    await proxy.cut();
    await until(() => clients.every(({ isEnded }) => isEnded()), 'the streams end beyond the bound', 20_000);
  });
});
