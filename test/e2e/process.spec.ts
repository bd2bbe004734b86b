import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { newPostgresUrl, postgresServer } from '../support/databases.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, madeDataDir, newDataDir, spawnService } from '../support/process.js';

const KEY = 'a-platform-key-for-the-process-tests-01';

describe('the process', () => {
  const running: ServiceProcess[] = [];
  const start = (environment: Record<string, string>, args?: string[]): ServiceProcess => {
    const service = spawnService(environment, args);
    running.push(service);
    return service;
  };
  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  });

  it('ends with 78 and a line for each mistake, naming the setting and never its value', async () => {
    const service = start({ PORT: 'eighty', TOOLCRIB_PLATFORM_KEY: 'too-short-a-secret', TOOLCRIB_COLOUR: 'red', DATABASE_URL: 'mysql://u:sesame@h/d' });
    expect(await service.ended).toBe(78);
    expect(service.output().trim().split('\n').sort()).toEqual([
      'toolcrib: DATABASE_URL must begin with postgres:// or postgresql://',
      'toolcrib: PORT must be a whole number from 0 to 65535',
      'toolcrib: TOOLCRIB_COLOUR is not a known setting',
      'toolcrib: TOOLCRIB_PLATFORM_KEY must have at least 32 characters',
    ]);
  });

  it('makes its platform key once, shows it once, and keeps it for its owner alone', async () => {
    const dataDir = await newDataDir();
    const first = start({ TOOLCRIB_DATA_DIR: dataDir });
    const url = await listening(first);
    const file = path.join(dataDir, 'platform-key');
    const key = (await readFile(file, 'utf8')).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await sleep(200);
    expect(first.output()).toContain(key);
    expect((await ask(url, key, 'GET', '/v1/tenants')).status).toBe(200);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    const second = start({ TOOLCRIB_DATA_DIR: dataDir });
    expect((await ask(await listening(second), key, 'GET', '/v1/tenants')).status).toBe(200);
    expect(second.output()).not.toContain(key);
  });

  it('refuses a data folder that another process has open, and takes one that a killed process left', async () => {
    const dataDir = await madeDataDir();
    const first = start({ TOOLCRIB_DATA_DIR: dataDir, TOOLCRIB_PLATFORM_KEY: KEY });
    await listening(first);
    const second = start({ TOOLCRIB_DATA_DIR: dataDir, TOOLCRIB_PLATFORM_KEY: KEY });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`the data folder \`${dataDir}\` is in use by another process`);
    first.child.kill('SIGKILL');
    await first.ended;
    await listening(start({ TOOLCRIB_DATA_DIR: dataDir, TOOLCRIB_PLATFORM_KEY: KEY }));
  });

  it('keeps every acknowledged write when it is killed in the middle of writing', async () => {
    const dataDir = await madeDataDir();
    const environment = { TOOLCRIB_DATA_DIR: dataDir, TOOLCRIB_PLATFORM_KEY: KEY };
    const headers = { 'x-tenant-id': 'acme' };
    const acknowledged: string[] = [];
    for (const round of [1, 2]) {
      const service = start(environment);
      const url = await listening(service);
      if (round === 1) expect((await ask(url, KEY, 'POST', '/v1/tenants', { tenantId: 'acme', name: 'Acme' })).status).toBe(201);
      const writing = Array.from({ length: 4 }, async (_, lane) => {
        for (let i = 0; ; i += 1) {
          const agentId = `agent-${round}-${lane}-${i}`;
          const { status } = await ask(url, KEY, 'PUT', `/v1/agents/${agentId}`, {}, headers);
          expect(status).toBe(201);
          acknowledged.push(agentId);
        }
      });
      await sleep(1_500);
      service.child.kill('SIGKILL');
      await Promise.allSettled(writing);
      await service.ended;
    }
    expect(acknowledged.length).toBeGreaterThan(4);
    const url = await listening(start(environment));
    const found = new Set<string>();
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await ask(url, KEY, 'GET', `/v1/agents?limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`, undefined, headers);
      for (const { agentId } of page.body.items) found.add(agentId);
      cursor = page.body.nextCursor;
    }
    expect(acknowledged.filter((agentId) => !found.has(agentId))).toEqual([]);
    // What was written and not acknowledged may be there, each whole: its revision counts too.
    const { headers: last } = await ask(url, KEY, 'PUT', '/v1/agents/last', {}, headers);
    expect(Number(last.get('x-toolcrib-revision'))).toBe(found.size + 1);
  });

  it('serves Swagger and the very document that is committed', async () => {
    const url = await listening(start({ TOOLCRIB_DATA_DIR: await madeDataDir(), TOOLCRIB_PLATFORM_KEY: KEY }));
    expect((await ask(url, null, 'GET', '/openapi.json')).body).toEqual(JSON.parse(await readFile('openapi/openapi.json', 'utf8')));
    const page = await ask(url, null, 'GET', '/docs');
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('swagger-ui')]);
    expect((await ask(url, null, 'GET', '/docs/swagger-ui-bundle.js')).status).toBe(200);
  });

  it('is live and not ready while there is no database, and ready by itself once there is one', async () => {
    const server = net.createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as net.AddressInfo;
    const target = postgresServer === undefined ? `postgresql://postgres@127.0.0.1:${port}/none` : await newPostgresUrl(postgresServer);
    const through = new URL(target);
    through.host = `127.0.0.1:${port}`;
    const service = start({ DATABASE_URL: through.href, TOOLCRIB_PLATFORM_KEY: KEY });
    const url = await listening(service);
    expect((await ask(url, null, 'GET', '/health/live')).status).toBe(200);
    expect((await ask(url, null, 'GET', '/health/ready')).body).toMatchObject({ status: 503, code: 'DATABASE_UNAVAILABLE' });
    const refused = await ask(url, KEY, 'GET', '/v1/tenants');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    await new Promise((resolve) => server.close(resolve));
    if (postgresServer === undefined) return;
    const real = new URL(postgresServer);
    const proxy = net.createServer((socket) => {
      const upstream = net.connect(Number(real.port), real.hostname);
      socket.pipe(upstream).pipe(socket);
      for (const end of [socket, upstream]) end.on('error', () => end.destroy());
    }).listen(port, '127.0.0.1');
    for (let tries = 0; tries < 100 && (await ask(url, null, 'GET', '/health/ready')).status !== 200; tries += 1) await sleep(100);
    expect((await ask(url, null, 'GET', '/health/ready')).body).toEqual({ status: 'ready', database: 'up', redis: 'off' });
    expect((await ask(url, KEY, 'GET', '/v1/tenants')).status).toBe(200);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    proxy.close();
  });

  it('finishes what runs before it ends on SIGTERM', async () => {
    const service = start({ TOOLCRIB_DATA_DIR: await madeDataDir(), TOOLCRIB_PLATFORM_KEY: KEY });
    const url = await listening(service);
    await ask(url, KEY, 'POST', '/v1/tenants', { tenantId: 'acme', name: 'Acme' });
    const tools = Array.from({ length: 3_000 }, (_, i) => ({ name: `t${i}`, description: 'd', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }));
    const running_ = ask(url, KEY, 'POST', '/v1/tools/sync', { source: 's', tools }, { 'x-tenant-id': 'acme' });
    await sleep(60);
    service.child.kill('SIGTERM');
    expect((await running_).status).toBe(200);
    expect(await service.ended).toBe(0);
  });

  it('hears SIGTERM before it listens: it makes its database whole, ends with 0, and starts from it again', async () => {
    const dataDir = await newDataDir();
    const environment = { TOOLCRIB_DATA_DIR: dataDir, TOOLCRIB_PLATFORM_KEY: KEY };
    const service = start(environment);
    while (!existsSync(path.join(dataDir, 'lock'))) await sleep(5);
    service.child.kill('SIGTERM');
    expect([await service.ended, service.output()]).toEqual([0, expect.stringContaining('"msg":"stopping"')]);
    expect((await ask(await listening(start(environment)), KEY, 'GET', '/v1/tenants')).status).toBe(200);
  });

  it('is not held up by a client that never sends its body', async () => {
    const service = start({ TOOLCRIB_DATA_DIR: await madeDataDir(), TOOLCRIB_PLATFORM_KEY: KEY });
    const { port } = new URL(await listening(service));
    const stalled = net.connect(Number(port), '127.0.0.1', () => stalled.write('POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'));
    stalled.on('error', () => undefined);
    await sleep(300);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    stalled.destroy();
  });

  it('applies migrations as a job of its own, and none when told not to', async () => {
    const dataDir = await newDataDir();
    const job = start({ TOOLCRIB_DATA_DIR: dataDir }, ['migrate']);
    expect(await job.ended).toBe(0);
    expect(job.output()).toMatch(/^applied \d+_/u);
    const again = start({ TOOLCRIB_DATA_DIR: dataDir }, ['migrate']);
    expect([await again.ended, again.output()]).toEqual([0, 'nothing to apply\n']);
    const url = await listening(start({ TOOLCRIB_DATA_DIR: dataDir, TOOLCRIB_MIGRATE: 'off', TOOLCRIB_PLATFORM_KEY: KEY }));
    expect((await ask(url, KEY, 'GET', '/v1/tenants')).body).toEqual({ items: [], nextCursor: null });
    expect(await start({}, ['dance']).ended).toBe(64);
  });
});
