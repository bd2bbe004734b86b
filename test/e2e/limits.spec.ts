import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PolicyLoader } from '../../src/policy/policy.loader.js';
import { DATABASES } from '../support/databases.js';
import type { Fleet, Replica, Servers } from '../support/fleet.js';
import { FleetTenant, becomes, describeWithServers, fleetOn, isReady, privateServers } from '../support/fleet.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, madeDataDir, spawnService } from '../support/process.js';
import type { Answer, TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, platform, startTestService } from '../support/test-service.js';

const QUESTION = { agentId: 'm' };

async function serve(environment: Record<string, string>): Promise<{ service: TestService; tenant: TestTenant }> {
  const [kind] = DATABASES;
  if (kind === undefined) throw new Error('no database');
  const service = await startTestService(kind, environment);
  const tenant = await newTenant(service);
  await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }] });
  await tenant.caller.send('put', '/v1/agents/m', {});
  return { service, tenant };
}

const stands = ({ status, headers }: Answer): unknown[] => [status, headers['ratelimit-limit'], headers['ratelimit-remaining'], headers['retry-after'] !== undefined];

describe('limits on how often a key may ask', () => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => ({ service, tenant } = await serve({ TOOLCRIB_RATE_PER_KEY: '6' })));
  afterAll(() => service.close());

  it('are told with every answer, on whichever road, and are the same for both', async () => {
    const caller = await tenant.withScopes('decide', 'governance:read');
    const seen = [];
    for (let i = 0; i < 4; i += 1) seen.push(await caller.post('/v1/decide', QUESTION));
    seen.push(await caller.get('/v1/agents/m'), await caller.post('/v1/decide', { agentId: 'nobody' }));
    expect(seen.map(stands)).toEqual([[200, '6', '5', false], [200, '6', '4', false], [200, '6', '3', false], [200, '6', '2', false], [200, '6', '1', false], [404, '6', '0', false]]);
    const refused = [await caller.post('/v1/decide', QUESTION), await caller.get('/v1/agents/m'), await caller.post('/v1/check', { ...QUESTION, toolName: 'a' })];
    expect(refused.map(stands)).toEqual(Array(3).fill([429, '6', '0', true]));
    expect(refused.map(({ body }) => body.code)).toEqual(Array(3).fill('TOO_MANY_REQUESTS'));
    for (const { headers, body } of refused) {
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(headers['x-request-id']).toBe(body.requestId);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
  });

  it('bind nobody else: another key of the tenant, another tenant, the platform', async () => {
    const spent = await tenant.withScopes('governance:read');
    for (let i = 0; i < 7; i += 1) await spent.get('/v1/agents/m');
    expect((await spent.get('/v1/agents/m')).status).toBe(429);
    expect((await (await tenant.withScopes('governance:read')).get('/v1/agents/m')).status).toBe(200);
    expect((await (await newTenant(service)).caller.get('/v1/settings')).status).toBe(200);
    for (let i = 0; i < 8; i += 1) expect((await platform(service, tenant.tenantId).get('/v1/agents/m')).status).toBe(200);
  });

  it('are counted before it is looked what the key may do, and not for those who have none', async () => {
    const caller = await tenant.withScopes('governance:read');
    const wrong = await caller.send('put', '/v1/agents/m', {});
    const stranger = await new Caller(service, { authorization: 'Bearer nothing' }).get('/v1/agents/m');
    expect([stands(wrong), stands(stranger)]).toEqual([[403, '6', '5', false], [401, undefined, undefined, false]]);
  });
});

describe('a replica with more to do than it may have at once', () => {
  let service: TestService;
  let tenant: TestTenant;
  // The longest that a request may take, too, which the server has to be told twice.
  beforeAll(async () => ({ service, tenant } = await serve({ TOOLCRIB_MAX_CONCURRENCY: '4', TOOLCRIB_REQUEST_TIMEOUT_MS: '3600000' })));
  afterAll(() => service.close());

  it('refuses the rest at once, answers what needs no waiting, and takes everybody again afterwards', async () => {
    // Kept from its second time on: what is answered at once is never under way.
    for (let i = 0; i < 3; i += 1) await tenant.caller.post('/v1/decide', QUESTION);
    const cold = await newTenant(service);
    const loader = service.app.get(PolicyLoader);
    const load = loader.load.bind(loader);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    loader.load = async (...asked) => held.then(() => load(...asked));
    const waiting = Array.from({ length: 4 }, () => cold.caller.post('/v1/decide', QUESTION));
    await sleep(200);
    const refused = await cold.caller.get('/v1/settings');
    expect([refused.status, refused.body.code, refused.headers['retry-after'], refused.body.requestId]).toEqual([503, 'OVERLOADED', '1', refused.headers['x-request-id']]);
    expect((await platform(service).get('/health/live')).status).toBe(200);
    expect((await platform(service).get('/metrics')).text).toContain('toolcrib_shed_requests_total{reason="concurrency"} 1');
    release();
    loader.load = load;
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await cold.caller.get('/v1/settings')).status).toBe(200);
  });
});

describe('connections that misbehave', () => {
  const KEY = 'the-platform-key-of-the-misbehaving-0123';
  let service: ServiceProcess;
  let url = '';
  beforeAll(async () => {
    service = spawnService({ TOOLCRIB_PLATFORM_KEY: KEY, TOOLCRIB_DATA_DIR: await madeDataDir(), TOOLCRIB_MAX_CONCURRENCY: '3', TOOLCRIB_REQUEST_TIMEOUT_MS: '600' });
    url = await listening(service);
    expect(await becomes(() => isReady(url), 60_000)).toBe(true);
  });
  afterAll(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });

  /** A connection that stays half open when the other side ends it, after it has said this. */
  const connect = (said: string): net.Socket => {
    const socket = net.connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(said));
    return socket.on('error', () => undefined);
  };
  const isServed = async (): Promise<boolean> => (await ask(url, KEY, 'GET', '/v1/tenants')).status === 200;

  it('take nobody’s place when they ask and do not wait', async () => {
    for (const path of ['/openapi.json', '/v1/tenants']) {
      const socket = connect(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`.repeat(50));
      await once(socket.pause(), 'connect');
      await sleep(300);
      socket.resetAndDestroy();
    }
    expect(await becomes(isServed, 5_000)).toBe(true);
    expect(await Promise.all([isServed(), isServed(), isServed()])).toEqual([true, true, true]);
  });

  it('are closed when they are refused, also by clients that would keep them', async () => {
    const begun = `POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`;
    const sockets = [begun, 'no HTTP at all\r\n\r\n'].map(connect);
    const answers = await Promise.all(sockets.map(async (socket) => {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      const gone = new Promise((resolve) => socket.once('close', resolve));
      await sleep(100);
      // Whoever is not there any more resets what is still sent.
      socket.write('more');
      await sleep(100);
      socket.write('and more');
      return Promise.race([gone.then(() => chunk.toString().slice(9, 12)), sleep(5_000, 'still open')]);
    }));
    expect(answers).toEqual(['408', '400']);
    expect(await isServed()).toBe(true);
  });
});

describeWithServers('limits of several replicas', () => {
  let servers: Servers;
  let fleet: Fleet;
  beforeAll(async () => {
    servers = await privateServers();
    fleet = fleetOn(servers, { TOOLCRIB_RATE_PER_KEY: '20' });
  });
  afterAll(async () => {
    await fleet.stop();
    await servers.stop();
  });

  /** How many of so many requests are answered. */
  async function answered(tenant: FleetTenant, replica: Replica, count: number): Promise<number> {
    const seen = [];
    for (let i = 0; i < count; i += 1) seen.push((await tenant.send(replica, 'GET', '/v1/settings')).status);
    expect(seen.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    return seen.filter((status) => status === 200).length;
  }

  it('hold for all of them together', async () => {
    const [one, other] = await Promise.all([fleet.add(), fleet.add()]);
    const tenant = await FleetTenant.create(one, 'shared');
    expect(await answered(tenant, one, 12)).toBe(12);
    await sleep(500);
    // It adds its own, and hears of the twelve.
    await answered(tenant, other, 1);
    await sleep(500);
    expect(await answered(tenant, other, 20)).toBe(7);
    await sleep(500);
    await answered(tenant, one, 1);
    await sleep(500);
    expect(await answered(tenant, one, 5)).toBe(0);
  });

  it('are held by each one alone while Redis hangs, and nobody waits for it', async () => {
    const [one] = fleet.replicas;
    if (one === undefined) throw new Error('no replica');
    const tenant = await FleetTenant.create(one, 'alone');
    servers.redis.pause();
    expect(await answered(tenant, one, 25)).toBe(20);
    servers.redis.resume();
  });
});
