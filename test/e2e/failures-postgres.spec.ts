import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newPostgresUrl } from '../support/databases.js';
import type { Fleet, Replica, Sent, Servers } from '../support/fleet.js';
import { FleetTenant, becomes, describeWithServers, fleetOn, isReady, privateServers } from '../support/fleet.js';
import { ask } from '../support/process.js';
import type { Proxy } from '../support/proxy.js';
import { proxyTo } from '../support/proxy.js';

type Postgres = Servers['postgres'];
type Way = readonly [how: string, breakIt: (postgres: Postgres) => unknown, mend: (postgres: Postgres) => unknown];

const WAYS: readonly Way[] = [
  ['killed', (postgres) => postgres.kill(), (postgres) => postgres.restart()],
  ['hung', (postgres) => postgres.pause(), (postgres) => postgres.resume()],
];
/** For all to be well by itself, on a busy machine too. */
const RECOVERY_MS = 20_000;
const BOUND_MS = 2_000;

describeWithServers('when PostgreSQL fails', () => {
  let servers: Servers;
  let fleet: Fleet;
  let proxy: Proxy;
  let here: Replica;
  let there: Replica;
  let tenant: FleetTenant;
  let tenants = 0;
  beforeAll(async () => {
    servers = await privateServers();
  });
  afterAll(() => servers.stop());

  /** Two replicas for a group of tests, the second one behind a proxy of its own: what broke once has to work in the next test, too. */
  const withBound = (stalenessMs: number): void => {
    beforeAll(async () => {
      const url = await newPostgresUrl(servers.postgres.url);
      proxy = await proxyTo(url);
      fleet = fleetOn(servers, { DATABASE_URL: url, TOOLCRIB_MAX_STALENESS_MS: String(stalenessMs) });
      [here, there] = await Promise.all([fleet.add(), fleet.add({ DATABASE_URL: proxy.url })]);
    });
    beforeEach(setUp);
    afterEach(async () => {
      // Whatever the test left them in.
      await servers.postgres.restart();
      await proxy.cut();
      await proxy.restore();
    });
    afterAll(async () => {
      await fleet.stop();
      await proxy.cut();
    });
  };

  /** A tenant that both replicas have answered for. */
  const setUp = async (): Promise<void> => {
    const isUp = async (replica: Replica): Promise<boolean> => (await health(replica)).body.status === 'ready';
    for (const replica of [here, there]) expect(await becomes(() => isUp(replica), RECOVERY_MS)).toBe(true);
    tenants += 1;
    tenant = await FleetTenant.create(here, `acme-${tenants}`);
    await tenant.send(here, 'POST', '/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }, { name: 'b', description: 'd', isCore: true }] });
    await tenant.send(here, 'PUT', '/v1/agents/m', {});
    const revision = await tenant.switch(here, 'b', false);
    for (const replica of [here, there]) await tenant.warmUp(replica);
    for (const replica of [here, there]) expect((await tenant.decide(replica, { minRevision: revision })).body).toMatchObject({ revision, freshness: 'fresh', toolNames: ['a'] });
  };

  const isFresh = async (replica: Replica): Promise<boolean> => (await tenant.decide(replica)).body.freshness === 'fresh';
  const isWritable = async (replica: Replica, tool = 'b'): Promise<boolean> => (await tenant.send(replica, 'PUT', `/v1/agents/m/tools/${tool}/switch`, { on: true })).status === 200;
  const health = (replica: Replica): Promise<Sent> => ask(replica.url, null, 'GET', '/health/ready');

  const anotherKey = async () => {
    const { body } = await tenant.send(here, 'POST', '/v1/keys', { name: 'to be revoked', scopes: ['decide'] });
    return { keyId: String(body.keyId), use: (replica: Replica) => ask(replica.url, body.key, 'POST', '/v1/decide', { agentId: 'm' }) };
  };

  describe('and answers may be a minute old', () => {
    withBound(60_000);

    it.each(WAYS)('(%s) decisions of loaded tenants go on, told as stale, writes are refused with 503, and all is well by itself afterwards', async (_how, breakIt, mend) => {
      const closed = await tenant.switch(there, 'b', false);
      await breakIt(servers.postgres);
      expect(await becomes(async () => (await tenant.decide(here)).body.freshness === 'stale', 10_000)).toBe(true);
      for (let i = 0; i < 60; i += 1) {
        const { status, body } = await tenant.decide(i % 2 === 0 ? here : there, { context: { attributes: { turn: i } } });
        expect([status, body.toolNames, body.revision]).toEqual([200, ['a'], closed]);
        if (body.freshness === 'stale') expect(body.staleForMs).toBeGreaterThan(0);
        expect((await tenant.send(there, 'POST', '/v1/check', { agentId: 'm', toolName: 'b' })).body).toMatchObject({ allowed: false, code: 'AGENT_DISABLED' });
      }
      for (const replica of [here, there]) {
        const written = await tenant.send(replica, 'PUT', '/v1/agents/m/tools/a/switch', { on: false });
        expect([written.status, written.body.code, written.headers.get('retry-after')]).toEqual([503, 'DATABASE_UNAVAILABLE', expect.any(String)]);
        expect((await health(replica)).status).toBe(200);
      }
      await mend(servers.postgres);
      for (const replica of [here, there]) expect([await becomes(() => isWritable(replica), RECOVERY_MS), await becomes(() => isFresh(replica), RECOVERY_MS)]).toEqual([true, true]);
      const { status, headers } = await tenant.send(here, 'PUT', '/v1/agents/n', {});
      const minRevision = Number(headers.get('x-toolcrib-revision'));
      expect(status).toBe(201);
      expect((await tenant.decide(there, { agentId: 'n', minRevision })).body).toMatchObject({ revision: minRevision, freshness: 'fresh', toolNames: ['a', 'b'] });
      const { body } = await tenant.send(there, 'GET', '/v1/history');
      expect(body.items.map(({ revision }: { revision: number }) => revision)).toEqual(Array.from({ length: minRevision }, (_, i) => minRevision - i));
    });

    it('(killed and started again) callers are told 503 at worst, never 500, and no acknowledged write is lost', async () => {
      const told = new Set<number>();
      const acknowledged: number[] = [];
      let isOver = false;
      const write = async (replica: Replica, tool: string): Promise<void> => {
        for (let on = true; !isOver; on = !on) {
          const { status, headers } = await tenant.send(replica, 'PUT', `/v1/agents/m/tools/${tool}/switch`, { on });
          told.add(status);
          if (status === 200) acknowledged.push(Number(headers.get('x-toolcrib-revision')));
          const { status: decided } = await tenant.decide(replica);
          expect(decided).toBe(200);
        }
      };
      const writing = Promise.all([write(here, 'a'), write(here, 'b'), write(there, 'a'), write(there, 'b')]);
      for (let i = 0; i < 3; i += 1) {
        await sleep(700);
        await servers.postgres.restart();
      }
      const before = acknowledged.length;
      await becomes(async () => acknowledged.length > before + 20, RECOVERY_MS);
      isOver = true;
      await writing;
      expect([...told].filter((status) => status !== 200 && status !== 503)).toEqual([]);
      const { body } = await tenant.send(here, 'GET', '/v1/history?limit=500');
      const kept = new Set(body.items.map(({ revision }: { revision: number }) => revision));
      expect(acknowledged.length).toBeGreaterThan(before);
      expect(acknowledged.filter((revision) => !kept.has(revision) && revision > Math.min(...(kept as Set<number>)))).toEqual([]);
      expect(Math.max(...(kept as Set<number>))).toBeGreaterThanOrEqual(Math.max(...acknowledged));
    });

    it('(hung) a database that answers nothing does not slow decisions down once that is known', async () => {
      const timed = async (count: number): Promise<number> => {
        const times: number[] = [];
        for (let i = 0; i < count; i += 1) {
          const start = performance.now();
          expect((await tenant.decide(here, { context: { attributes: { turn: i } } })).status).toBe(200);
          times.push(performance.now() - start);
        }
        return times.sort((a, b) => a - b)[Math.floor(count * 0.99) - 1] ?? Infinity;
      };
      const usual = await timed(200);
      servers.postgres.pause();
      expect(await becomes(async () => (await tenant.decide(here)).body.freshness === 'stale', 10_000)).toBe(true);
      expect(await timed(200)).toBeLessThan(Math.max(250, 4 * usual));
    });

    it('a revoked key works nowhere a second later', async () => {
      const { keyId, use } = await anotherKey();
      for (const replica of [here, there]) expect(await becomes(async () => (await use(replica)).status === 200, RECOVERY_MS)).toBe(true);
      expect((await tenant.send(here, 'DELETE', `/v1/keys/${keyId}`)).status).toBe(204);
      expect((await use(here)).status).toBe(401);
      await sleep(1_005);
      expect((await use(there)).status).toBe(401);
    });
  });

  describe('and answers may be two seconds old', () => {
    withBound(BOUND_MS);

    it.each(WAYS)('(%s) nothing is answered beyond the bound, readiness says so, and both come back by themselves', async (_how, breakIt, mend) => {
      await breakIt(servers.postgres);
      const broken = performance.now();
      for (let asked = performance.now(); asked - broken < BOUND_MS; asked = performance.now()) {
        const { status, body } = await tenant.decide(here);
        if (status === 200 && body.freshness === 'stale') expect(body.staleForMs).toBeLessThanOrEqual(BOUND_MS);
        await sleep(50);
      }
      for (const replica of [here, there]) {
        const { status, body, headers } = await tenant.decide(replica);
        expect([status, ['TOO_STALE', 'DATABASE_UNAVAILABLE'].includes(body.code), headers.get('retry-after')]).toEqual([503, true, expect.any(String)]);
        expect((await health(replica)).status).toBe(503);
        expect((await ask(replica.url, null, 'GET', '/health/live')).status).toBe(200);
      }
      await mend(servers.postgres);
      for (const replica of [here, there]) expect([await becomes(() => isReady(replica.url), RECOVERY_MS), await becomes(() => isFresh(replica), RECOVERY_MS)]).toEqual([true, true]);
    });

    it.each(['cut', 'hang'] as const)('(%s) a revoked key works beyond the bound nowhere, not on a replica that can not reach the database either', async (how) => {
      const { keyId, use } = await anotherKey();
      for (const replica of [here, there]) expect(await becomes(async () => (await use(replica)).status === 200, RECOVERY_MS)).toBe(true);
      await proxy[how]();
      expect((await tenant.send(here, 'DELETE', `/v1/keys/${keyId}`)).status).toBe(204);
      const revoked = performance.now();
      expect((await use(here)).status).toBe(401);
      await sleep(BOUND_MS + 5 - (performance.now() - revoked));
      for (let i = 0; i < 5; i += 1) expect([401, 503]).toContain((await use(there)).status);
      await proxy.restore();
      expect(await becomes(async () => (await use(there)).status === 401, RECOVERY_MS)).toBe(true);
      expect(await becomes(() => isFresh(there), RECOVERY_MS)).toBe(true);
      expect((await use(there)).status).toBe(401);
    });

    it.each(['cut', 'hang'] as const)('(%s) a write is never unseen beyond the bound, not on a replica that can not reach the database either', async (how) => {
      await proxy[how]();
      const revision = await tenant.switch(here, 'a', false);
      const written = performance.now();
      while (performance.now() - written < 2 * BOUND_MS) {
        const asked = performance.now();
        const { status, body } = await tenant.decide(there);
        const answered = performance.now();
        if (status === 200 && asked - written > BOUND_MS) expect(body.revision).toBeGreaterThanOrEqual(revision);
        if (status === 200 && body.revision < revision && asked - written > 1_000) expect(body.freshness).toBe('stale');
        if (status === 200 && body.freshness === 'stale') expect(body.staleForMs).toBeLessThanOrEqual(BOUND_MS + answered - asked);
        await sleep(25);
      }
      await proxy.restore();
      expect(await becomes(async () => (await tenant.decide(there)).body.revision === revision, RECOVERY_MS)).toBe(true);
    });
  });
});
