import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Fleet, Replica, Servers } from '../support/fleet.js';
import { FleetTenant, becomes, describeWithServers, fleetOn, privateServers } from '../support/fleet.js';
import { ask } from '../support/process.js';

const RECOVERY_MS = 20_000;
/** Timers run early by a little. */
const SECOND_MS = 1_005;
/** When in the course of the write the replica is killed: its length depends on the machine, so some are tried. */
const SHARES = [0.2, 0.5, 0.8, 0.95];

const LARGE = Array.from({ length: 1_500 }, (_, i) => ({ name: `large_${i}`, description: 'd', isCore: true, inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'x'.repeat(200) } } } }));
const MANY = Array.from({ length: 400 }, (_, i) => ({ agentId: `many_${i}`, tools: { enabled: ['a'] } }));

const WRITES = [
  ['sync', '/v1/tools/sync', (mark: string) => ({ source: 'large', tools: LARGE.map((tool) => ({ ...tool, description: mark })) })],
  ['import', '/v1/agents/import', (mark: string) => ({ agents: MANY.map((agent) => ({ ...agent, displayName: mark })) })],
] as const;

describeWithServers('when a replica fails', () => {
  let servers: Servers;
  let fleet: Fleet;
  let there: Replica;
  let tenants = 0;
  beforeAll(async () => {
    servers = await privateServers();
    fleet = fleetOn(servers);
    there = await fleet.add();
  });
  afterAll(async () => {
    await fleet.stop();
    await servers.stop();
  });

  const newTenant = async (): Promise<FleetTenant> => {
    tenants += 1;
    const tenant = await FleetTenant.create(there, `t${tenants}`);
    await tenant.send(there, 'POST', '/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }] });
    await tenant.send(there, 'PUT', '/v1/agents/m', {});
    return tenant;
  };

  const revisionsOf = async (tenant: FleetTenant): Promise<number[]> => {
    const revisions: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await tenant.send(there, 'GET', `/v1/history?limit=500${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      revisions.push(...body.items.map(({ revision }: { revision: number }) => revision));
      cursor = body.nextCursor;
    }
    return revisions.reverse();
  };

  /** Every mark that the written things bear on the other replica; none for those that are not there. */
  const marksOf = async (tenant: FleetTenant, what: string): Promise<(string | null)[]> => {
    if (what === 'sync') {
      const { body } = await tenant.decide(there, { include: ['tools'] });
      const large = new Map(body.tools.map((tool: { name: string; description: string }) => [tool.name, tool.description]));
      return LARGE.map(({ name }) => (large.get(name) as string | undefined) ?? null);
    }
    const { body } = await tenant.send(there, 'GET', '/v1/agents?limit=500');
    const many = new Map(body.items.map((agent: { agentId: string; displayName: string }) => [agent.agentId, agent.displayName]));
    return MANY.map(({ agentId }) => (many.get(agentId) as string | undefined) ?? null);
  };

  it.each(WRITES)('(killed in the middle of a large %s) the others see all or nothing of it, go on writing, and skip no revision', async (what, route, bodyOf) => {
    const tenant = await newTenant();
    const started = performance.now();
    expect((await tenant.send(there, 'POST', route, bodyOf('at first'))).status).toBe(200);
    const usualMs = performance.now() - started;
    let current = 'at first';
    const seen = new Set<string>();
    for (const share of SHARES) {
      const victim = await fleet.add({}, (replica) => tenant.warmUp(replica));
      const mark = `killed at ${share}`;
      const write = tenant.send(victim, 'POST', route, bodyOf(mark)).then(({ status }) => status, () => 0);
      const watching = { isOver: false };
      const watched = (async () => {
        while (!watching.isOver) {
          const marks = new Set(await marksOf(tenant, what));
          expect([...marks]).toHaveLength(1);
        }
      })();
      // It is awaited later, and told there.
      watched.catch(() => undefined);
      await sleep(usualMs * share);
      await fleet.kill(victim);
      const status = await write;
      watching.isOver = true;
      await watched;
      const next = await tenant.send(there, 'PUT', `/v1/agents/m`, { displayName: mark }, await ifMatch(tenant));
      expect(next.status).toBe(200);
      const minRevision = Number(next.headers.get('x-toolcrib-revision'));
      expect((await tenant.decide(there, { minRevision })).body).toMatchObject({ revision: minRevision, freshness: 'fresh' });
      const [found, ...others] = new Set(await marksOf(tenant, what));
      expect(others).toEqual([]);
      expect([current, mark]).toContain(found);
      if (status === 200) expect(found).toBe(mark);
      current = found ?? '';
      seen.add(current === mark ? 'all' : 'nothing');
      const revisions = await revisionsOf(tenant);
      expect(revisions).toEqual(Array.from({ length: minRevision }, (_, i) => i + 1));
    }
    expect([...seen]).toContain('nothing');
  });

  const ifMatch = async (tenant: FleetTenant): Promise<Record<string, string>> => ({ 'if-match': (await tenant.send(there, 'GET', '/v1/agents/m')).headers.get('etag') ?? '' });

  it('a popular tenant’s first 200 requests at once on a new replica are all answered right, though 50 of them are given up in the middle', async () => {
    const tenant = await newTenant();
    await tenant.send(there, 'POST', '/v1/tools/sync', { source: 'large', tools: LARGE });
    const revision = await tenant.switch(there, 'a', false);
    const wanted = LARGE.map(({ name }) => name).sort();
    for (let round = 0; round < 2; round += 1) {
      const cold = await fleet.add();
      const given = Array.from({ length: 200 }, (_, i) => {
        const giveUp = i % 4 === 0 ? new AbortController() : null;
        if (giveUp !== null) setTimeout(() => giveUp.abort(), i / 2);
        const body = JSON.stringify({ agentId: 'm', context: { attributes: { turn: i % 20 } }, include: ['reasons'] });
        return fetch(`${cold.url}/v1/decide`, { method: 'POST', body, headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' }, signal: giveUp?.signal ?? null })
          .then(async (response) => ({ status: response.status, body: (await response.json()) as { revision: number; freshness: string; toolNames: string[] } }))
          .catch((error: unknown) => {
            if (giveUp === null) throw error;
            return null;
          });
      });
      const answers = await Promise.all(given);
      for (const [i, answer] of answers.entries()) {
        if (answer === null && i % 4 === 0) continue;
        expect([answer?.status, answer?.body.revision, answer?.body.freshness]).toEqual([200, revision, 'fresh']);
        expect([...(answer?.body.toolNames ?? [])].sort()).toEqual(wanted);
      }
      await fleet.kill(cold);
    }
  });

  it('the clock of a replica jumps by an hour, ahead and back, and nobody notices', async () => {
    const jumper = await fleet.add({ NODE_OPTIONS: `--import=${path.resolve('test/support/jumping-clock.mjs')}`, LOG_LEVEL: 'info' });
    const tenant = await newTenant();
    const decided = async (replica: Replica, isOn: boolean, more: object): Promise<void> => {
      expect((await tenant.decide(replica, more)).body).toMatchObject({ freshness: 'fresh', toolNames: isOn ? ['a'] : [] });
    };
    await tenant.warmUp(jumper);
    for (const [jump, offset] of ['an hour ahead', 'an hour back', 'to the truth'].entries()) {
      const { body: key } = await tenant.send(there, 'POST', '/v1/keys', { name: offset, scopes: ['decide'] });
      const use = () => ask(jumper.url, key.key, 'POST', '/v1/decide', { agentId: 'm' });
      expect((await use()).status).toBe(200);
      await decided(jumper, true, {});
      jumper.service.child.kill('SIGUSR2');
      expect(await becomes(async () => jumper.service.output().split('the clock jumped').length === jump + 2, RECOVERY_MS)).toBe(true);
      for (let i = 0; i < 10; i += 1) await decided(jumper, true, { context: { attributes: { turn: i % 5 } } });
      await decided(there, false, { minRevision: await tenant.switch(jumper, 'a', false) });
      await decided(jumper, false, {});
      await decided(jumper, true, { minRevision: await tenant.switch(there, 'a', true) });
      await tenant.switch(there, 'a', false);
      await sleep(SECOND_MS);
      await decided(jumper, false, {});
      await tenant.switch(there, 'a', true);
      expect((await tenant.send(there, 'DELETE', `/v1/keys/${key.keyId}`)).status).toBe(204);
      await sleep(SECOND_MS);
      expect((await use()).status).toBe(401);
      await decided(jumper, true, {});
    }
    await fleet.kill(jumper);
  });
});
