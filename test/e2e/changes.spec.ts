import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../src/tenancy/scope.js';
import { DATABASES } from '../support/databases.js';
import type { EventClient } from '../support/event-client.js';
import { openStream, until } from '../support/event-client.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { PLATFORM_KEY, newTenant, platform, startReplica, startTestService } from '../support/test-service.js';

const told = ({ events }: EventClient): unknown[] => events.map(({ event, data }) => (event === 'revision' ? [data.revision, data.kind, data.ids] : [event, data.revision]));
const agentEvents = (from: number, to: number): unknown[] => Array.from({ length: to - from + 1 }, (_, i) => [from + i, 'agent', [`a${from + i}`]]);

describe.each(DATABASES)('the stream of changes, $name', (kind) => {
  let here: TestService;
  let there: TestService;
  const urls = new Map<TestService, string>();
  beforeAll(async () => {
    here = await startTestService(kind);
    there = await startReplica(here);
    for (const service of [here, there]) {
      await service.app.listen(0, '127.0.0.1');
      urls.set(service, await service.app.getUrl());
    }
  });
  afterAll(async () => {
    await there.close();
    await here.close();
  });

  const opened: EventClient[] = [];
  afterEach(() => {
    for (const client of opened.splice(0)) client.close();
  });
  const open = async (service: TestService, key: string, headers: Record<string, string> = {}): Promise<EventClient> => {
    const client = await openStream(urls.get(service) ?? '', key, headers);
    opened.push(client);
    return client;
  };
  const mint = async (tenant: TestTenant, ...scopes: Scope[]): Promise<{ key: string; keyId: string }> =>
    (await platform(here, tenant.tenantId).post('/v1/keys', { name: 'k', scopes })).body;
  const setUp = async () => {
    const tenant = await newTenant(here);
    const { key } = await mint(tenant, 'decide');
    let last = 0;
    const save = async (service: TestService, count = 1): Promise<void> => {
      for (let i = 0; i < count; i += 1) {
        last += 1;
        const { status } = await platform(service, tenant.tenantId).send('put', `/v1/agents/a${last}`, {});
        expect(status).toBe(201);
      }
    };
    return { tenant, key, save };
  };

  it('tells every revision once and in order on every replica, and nobody else’s', async () => {
    const { tenant, key, save } = await setUp();
    const { key: otherKey, save: saveOther } = await setUp();
    const mine = await Promise.all([open(here, key), open(there, key), open(there, PLATFORM_KEY, { 'x-tenant-id': tenant.tenantId })]);
    const strangers = await Promise.all([open(here, otherKey), open(there, otherKey)]);
    await Promise.all([saveOther(here, 2), tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'b', description: 'd' }, { name: 'a', description: 'd' }] })]);
    await save(there);
    await tenant.caller.send('patch', '/v1/tools/a', { sort: 3 }, { 'if-match': '"1"' });
    await tenant.caller.write('patch', '/v1/settings', { maxSubagentDepth: 3 });
    await tenant.caller.post('/v1/history/4/revert', {});
    const wanted = [[1, 'catalog', ['a', 'b']], [2, 'agent', ['a1']], [3, 'catalog', ['a']], [4, 'settings', []], [5, 'settings', []]];
    await until(() => mine.every(({ events }) => events.length >= 5) && strangers.every(({ events }) => events.length >= 2), 'everybody is told');
    await sleep(700);
    for (const client of mine) expect(told(client)).toEqual(wanted);
    for (const client of strangers) expect(told(client)).toEqual(agentEvents(1, 2));
    expect(mine[0].events.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('begins at once, at the revision of its headers', async () => {
    const { key, save } = await setUp();
    await save(here, 2);
    const client = await open(here, key);
    expect(client).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no', 'x-request-id': expect.stringMatching(/./u), 'x-toolcrib-revision': '2' } });
    await until(() => client.text() !== '', 'the first bytes');
    expect(client.text()).toBe(': changes\nretry: 1000\nid: 2\n\n');
    await save(there);
    await until(() => client.events.length > 0, 'an event');
    expect(told(client)).toEqual(agentEvents(3, 3));
  });

  it('misses nothing that commits while it is being opened', async () => {
    const { key, save } = await setUp();
    const writing = save(there, 30);
    const clients: EventClient[] = [];
    for (let i = 0; i < 10; i += 1) clients.push(await open(i % 2 === 0 ? here : there, key));
    await writing;
    const lastOf = ({ headers, events }: EventClient): number => events.at(-1)?.data.revision ?? Number(headers['x-toolcrib-revision']);
    await until(() => clients.every((client) => lastOf(client) === 30), 'all are at the end');
    for (const client of clients) expect(told(client)).toEqual(agentEvents(Number(client.headers['x-toolcrib-revision']) + 1, 30));
  });

  it('resumes after the last event that a client has, on any replica', async () => {
    const { key, save } = await setUp();
    await save(here, 5);
    const clients = await Promise.all([open(here, key, { 'last-event-id': '2' }), open(there, key, { 'last-event-id': '0' }), open(there, key, { 'last-event-id': '5' })]);
    await save(here);
    await until(() => clients.every(({ events }) => events.at(-1)?.data.revision === 6), 'all are at the end');
    expect(clients.map(told)).toEqual([agentEvents(3, 6), agentEvents(1, 6), agentEvents(6, 6)]);
  });

  it('sends one resync where what was missed is kept no longer, was never told, or is too much, and goes on', async () => {
    const { tenant, key, save } = await setUp();
    await save(here, 4);
    await here.database.pool.query('UPDATE history SET ids = NULL WHERE tenant_id = $1 AND revision = 2', [tenant.tenantId]);
    const ofTwo = await open(here, key, { 'last-event-id': '1' });
    await here.database.pool.query('DELETE FROM history WHERE tenant_id = $1 AND revision <= 2', [tenant.tenantId]);
    const clients = [ofTwo, ...(await Promise.all(['0', '3', '5', '99999999999999999999'].map((id) => open(there, key, { 'last-event-id': id }))))];
    await save(there);
    await until(() => clients.every(({ events }) => events.at(-1)?.data.revision === 5), 'all are at the end');
    const resynced = [['resync', 4], ...agentEvents(5, 5)];
    expect(clients.map(told)).toEqual([resynced, resynced, agentEvents(4, 5), resynced, resynced]);
    // What an import of so many agents leaves behind, in one commit.
    await here.database.pool.query(`
      WITH written AS (UPDATE tenants SET revision = 1006 WHERE id = $1)
      INSERT INTO history (tenant_id, revision, key_id, key_name, request_id, entity, entity_id, action, ids)
      SELECT $1, i, 'k', 'n', 'r', 'agent', 'a', 'create', '["a"]' FROM generate_series(6, 1006) AS i`, [tenant.tenantId]);
    await until(() => clients.every(({ events }) => events.at(-1)?.data.revision === 1_006), 'a gap is told');
    for (const client of clients) expect(client.events.at(-1)).toEqual({ event: 'resync', id: '1006', data: { revision: 1_006 } });
  });

  it('is for keys with one of two scopes, and takes no other id than a revision', async () => {
    const { tenant, key } = await setUp();
    expect((await open(here, (await mint(tenant, 'governance:read')).key)).status).toBe(200);
    const [stranger, syncing] = [(await newTenant(here)).tenantId, await tenant.withScopes('sync')];
    expect(await syncing.get('/v1/changes')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    for (const id of ['-1', '1.5', 'seven', '0x10', '']) expect(await tenant.caller.get('/v1/changes', { 'last-event-id': id })).toMatchObject({ status: 400, body: { code: 'INVALID_HEADER' } });
    expect(await tenant.caller.get('/v1/changes', { 'x-tenant-id': stranger })).toMatchObject({ status: 404 });
    expect(await platform(here).get('/v1/changes')).toMatchObject({ status: 400, body: { code: 'TENANT_REQUIRED' } });
    expect(await platform(here, 'nobody').get('/v1/changes')).toMatchObject({ status: 404, body: { code: 'TENANT_NOT_FOUND' } });
    expect(await tenant.caller.send('post', '/v1/changes', {})).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    const head = await fetch(`${urls.get(here)}/v1/changes`, { method: 'HEAD', headers: { authorization: `Bearer ${key}` } });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  it('ends with the key that opened it, wherever that was revoked, and with its tenant', async () => {
    const { tenant, key, save } = await setUp();
    const { key: revoked, keyId } = await mint(tenant, 'decide');
    const [goes, goesToo, stays, ofPlatform] = await Promise.all([open(here, revoked), open(there, revoked), open(there, key), open(there, PLATFORM_KEY, { 'x-tenant-id': tenant.tenantId })]);
    await platform(here, tenant.tenantId).send('delete', `/v1/keys/${keyId}`);
    await until(() => goes.isEnded() && goesToo.isEnded(), 'the streams of a revoked key end', 5_000);
    await save(here);
    await until(() => stays.events.length === 1, 'the others go on');
    await platform(here).send('delete', `/v1/tenants/${tenant.tenantId}`);
    await until(() => stays.isEnded() && ofPlatform.isEnded(), 'the streams of a deleted tenant end', 5_000);
    expect(told(stays)).toEqual(agentEvents(1, 1));
  });

  it('cuts off a client that does not read, while who reads is told all', async () => {
    const { tenant, key, save } = await setUp();
    await save(here);
    const address = new URL(urls.get(here) ?? '');
    let isCut = false;
    const slow = net.connect(Number(address.port), address.hostname).on('error', () => undefined).on('close', () => (isCut = true));
    slow.write(`GET /v1/changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await new Promise((resolve) => slow.once('data', resolve));
    slow.pause();
    const reader = await open(here, key);
    // What the sync of 5,000 tools with long names leaves behind, again and again: the syncs themselves would take minutes.
    const syncs = async (revision: number): Promise<unknown> => here.database.pool.query(`
      WITH written AS (UPDATE tenants SET revision = $2 WHERE id = $1)
      INSERT INTO history (tenant_id, revision, key_id, key_name, request_id, entity, entity_id, action, ids)
      SELECT $1, $2, 'k', 'n', 'r', 'sync', 's', 'sync', json_agg(repeat('n', 120) || i)::text FROM generate_series(1, 5000) AS i`, [tenant.tenantId, revision]);
    const slowOnes = async (): Promise<number> => Number(/ended_total\{reason="slow"\} (\d+)/u.exec((await platform(here).get('/metrics')).text)?.[1] ?? 0);
    const before = await slowOnes();
    let revision = 1;
    while ((await slowOnes()) === before) {
      revision += 1;
      expect(revision).toBeLessThan(60);
      await syncs(revision);
      await until(() => reader.events.at(-1)?.data.revision === revision, `the reader is told ${revision}`);
    }
    expect(reader.events.map(({ data }) => [data.revision, data.ids.length])).toEqual(Array.from({ length: revision - 1 }, (_, i) => [i + 2, 5_000]));
    slow.resume();
    await until(() => isCut, 'its connection is closed');
    // Who comes back is not sent more at once than it takes in.
    const again = await open(there, key, { 'last-event-id': '1' });
    await until(() => again.events.at(-1)?.data.revision === revision, 'all is told to who comes back', 60_000);
    expect(again.events.map(({ id }) => Number(id))).toEqual(reader.events.map(({ id }) => Number(id)));
  });

  it('ends without a word that is not its own when its client says what is no HTTP', async () => {
    const { key } = await setUp();
    const { port, hostname } = new URL(urls.get(here) ?? '');
    const socket = net.connect(Number(port), hostname).on('error', () => undefined);
    let got = '';
    socket.on('data', (chunk: Buffer) => (got += chunk.toString('utf8')));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`GET /v1/changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await until(() => got.includes('\r\n\r\n'), 'the stream begins');
    socket.write('no HTTP at all\r\n\r\n');
    await closed;
    expect([got.match(/HTTP\/1\.1 \d+/gu), got.includes('problem')]).toEqual([['HTTP/1.1 200'], false]);
  });

  it('is noted in log and metrics once it ends, however it ends', async () => {
    const { key } = await setUp();
    const client = await open(there, key);
    const requestId = String(client.headers['x-request-id']);
    const lines = (): string[] => there.logged.filter((line) => line.includes(requestId));
    expect(lines()).toEqual([]);
    expect((await platform(there).get('/metrics')).text).toMatch(/^toolcrib_change_streams 1$/mu);
    client.close();
    await until(() => lines().length > 0, 'a line in the log');
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 20, route: '/v1/changes', status: 200 });
    expect((await platform(there).get('/metrics')).text).toMatch(/^toolcrib_change_streams 0$/mu);
    await sleep(50);
    expect(lines()).toHaveLength(1);
  });

  it('serves a thousand clients of two tenants on one replica', async () => {
    const [first, second] = [await setUp(), await setUp()];
    const clients = await Promise.all(Array.from({ length: 1_000 }, (_, i) => open(here, (i % 2 === 0 ? first : second).key)));
    expect(new Set(clients.map(({ status }) => status))).toEqual(new Set([200]));
    const begun = performance.now();
    await Promise.all([first.save(here), second.save(there)]);
    await second.save(here);
    await until(() => clients.every(({ events }, i) => events.length >= 1 + (i % 2)), 'all thousand are told', 60_000);
    process.stdout.write(`a thousand clients are told after ${Math.round(performance.now() - begun)} ms, writes included\n`);
    await sleep(600);
    for (const [i, client] of clients.entries()) expect(told(client)).toEqual(agentEvents(1, 1 + (i % 2)));
  });
});
