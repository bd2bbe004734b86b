import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DATABASES } from '../support/databases.js';
import type { Answer, TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, startReplica, startTestService } from '../support/test-service.js';

const tools = (count: number, more: object): object[] => Array.from({ length: count }, (_, i) => ({ name: `t${i}`, description: 'd', ...more }));

describe.each(DATABASES)('at the same time, $name', (kind) => {
  let service: TestService;
  let replica: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    replica = await startReplica(service);
  });
  afterAll(async () => {
    await replica.app.close();
    await service.close();
  });

  const on = async (there: TestService, tenant: TestTenant): Promise<Caller> => {
    const { body } = await tenant.caller.post('/v1/keys', { name: 'another replica', scopes: ['admin'] });
    return new Caller(there, { authorization: `Bearer ${body.key}` });
  };

  it('two writers of one agent, on two replicas, lose no update', async () => {
    const tenant = await newTenant(service);
    const there = await on(replica, tenant);
    await tenant.caller.send('put', '/v1/agents/m', {});
    const add = async (caller: Caller, name: string): Promise<void> => {
      for (;;) {
        const { headers, body } = await caller.get('/v1/agents/m');
        const { status } = await caller.send('patch', '/v1/agents/m', { tools: { enabled: [...body.tools.enabled, name] } }, { 'if-match': headers['etag'] ?? '' });
        if (status === 200) return;
        expect(status).toBe(412);
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, i) => add(i % 2 === 0 ? tenant.caller : there, `n${i}`)));
    const { body } = await tenant.caller.get('/v1/agents/m');
    expect([...body.tools.enabled].sort()).toEqual(Array.from({ length: 12 }, (_, i) => `n${i}`).sort());
  });

  it('a hundred switches of one agent, on two replicas, all take effect, each in a revision of its own', async () => {
    const tenant = await newTenant(service);
    const there = await on(replica, tenant);
    const names = Array.from({ length: 100 }, (_, i) => `t${i}`);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [...tools(50, {}), ...tools(100, { isCore: true }).slice(50)] });
    await tenant.caller.send('put', '/v1/agents/m', { tools: { enabled: ['kept'] } });
    const answers = await Promise.all(names.map((name, i) => (i % 2 === 0 ? tenant.caller : there).send('put', `/v1/agents/m/tools/${name}/switch`, { on: i < 50 })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(answers.map(({ headers }) => Number(headers['x-toolcrib-revision'])).sort((a, b) => a - b)).toEqual(names.map((_, i) => i + 3));
    const { body } = await tenant.caller.get('/v1/agents/m');
    expect([...body.tools.enabled].sort()).toEqual(['kept', ...names.slice(0, 50)].sort());
    expect([...body.tools.disabled].sort()).toEqual(names.slice(50).sort());
  });

  it('writers of catalog and agents get revisions that rise by one each, none skipped and none repeated', async () => {
    const tenant = await newTenant(service);
    const there = await on(replica, tenant);
    const writes: Promise<Answer>[] = [];
    for (let i = 0; i < 15; i += 1) {
      const caller = i % 2 === 0 ? tenant.caller : there;
      writes.push(caller.post('/v1/tools/sync', { source: `s${i}`, tools: [{ name: `x${i}`, description: 'd' }] }));
      writes.push(caller.send('put', `/v1/agents/a${i}`, {}));
    }
    const revisions = (await Promise.all(writes)).map(({ headers }) => Number(headers['x-toolcrib-revision']));
    expect(revisions.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });

  it('a decide never sees half a sync', async () => {
    const tenant = await newTenant(service);
    const there = await on(replica, tenant);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: tools(60, { isCore: true, sort: 1 }) });
    await tenant.caller.send('put', '/v1/agents/m', {});
    let syncing = true;
    const watch = async (caller: Caller): Promise<void> => {
      while (syncing) {
        const { body } = await caller.post('/v1/decide', { agentId: 'm', include: ['tools', 'definitions'] });
        expect([0, 60]).toContain(body.toolNames.length);
        expect(new Set(body.tools.map(({ description }: { description: string }) => description)).size).toBeLessThanOrEqual(1);
      }
    };
    const watchers = [watch(tenant.caller), watch(there)];
    for (let i = 0; i < 10; i += 1) {
      await tenant.caller.post('/v1/tools/sync', { source: 's', tools: tools(60, { isCore: i % 3 !== 0, description: `version ${i}` }) });
    }
    syncing = false;
    await Promise.all(watchers);
  });

  it('a reader on another replica sees a write at once when it names the revision, and within a second when it does not', async () => {
    const tenant = await newTenant(service);
    const there = await on(replica, tenant);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }] });
    await tenant.caller.send('put', '/v1/agents/m', {});
    for (let i = 0; i < 5; i += 1) {
      expect((await there.post('/v1/decide', { agentId: 'm' })).status).toBe(200);
      const closed = i % 2 === 0;
      const { headers } = await tenant.caller.write('patch', '/v1/agents/m', { tools: { disabled: closed ? ['a'] : [] } });
      const minRevision = Number(headers['x-toolcrib-revision']);
      const named = await there.post('/v1/decide', { agentId: 'm', minRevision });
      expect(named.body).toMatchObject({ revision: minRevision, freshness: 'fresh', toolNames: closed ? [] : ['a'] });
      const { headers: again } = await tenant.caller.write('patch', '/v1/agents/m', { displayName: `name ${i}` });
      await sleep(1_000);
      expect((await there.post('/v1/check', { agentId: 'm', toolName: 'a' })).body).toMatchObject({ revision: Number(again['x-toolcrib-revision']), allowed: !closed });
    }
    const far = await there.post('/v1/decide', { agentId: 'm', minRevision: 9_999 });
    expect([far.status, far.body.code, far.headers['retry-after']]).toEqual([503, 'REVISION_NOT_REACHED', '1']);
  });

  it('a writer sees its own write in the next decision, always', async () => {
    const tenant = await newTenant(service);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }] });
    await tenant.caller.send('put', '/v1/agents/m', {});
    for (let i = 0; i < 20; i += 1) {
      const { headers } = await tenant.caller.write('patch', '/v1/tools/a', { sort: i + 1, status: i % 2 === 0 ? 'disabled' : 'enabled' });
      const { body } = await tenant.caller.post('/v1/decide', { agentId: 'm' });
      expect([String(body.revision), body.toolNames]).toEqual([headers['x-toolcrib-revision'], i % 2 === 0 ? [] : ['a']]);
    }
  });

  it('pages follow the last thing seen, whatever comes and goes meanwhile', async () => {
    const tenant = await newTenant(service);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: tools(9, {}) });
    const first = await tenant.caller.get('/v1/tools?limit=4');
    await tenant.caller.post('/v1/tools/sync', { source: 'early', tools: [{ name: 'a0', description: 'd' }, { name: 't00', description: 'd' }] });
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: tools(9, {}).filter((_, i) => i !== 3) });
    const rest = await tenant.caller.get(`/v1/tools?limit=50&cursor=${first.body.nextCursor}`);
    expect([...first.body.items, ...rest.body.items].map(({ name }: { name: string }) => name)).toEqual(tools(9, {}).map((tool) => (tool as { name: string }).name));
  });
});

const server = DATABASES.find(({ name }) => name === 'PostgreSQL');

(server === undefined ? describe.skip : describe)('a tenant whose writes wait, PostgreSQL', () => {
  it('keeps no other tenant waiting', async () => {
    if (server === undefined) throw new Error('no server');
    const service = await startTestService(server);
    const [noisy, quiet] = [await newTenant(service), await newTenant(service)];
    for (const { caller } of [noisy, quiet]) await caller.send('put', '/v1/agents/m', {});
    const holder = await service.database.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM tenants WHERE id = $1 FOR UPDATE', [noisy.tenantId]);
    const waiting = Array.from({ length: 30 }, (_, i) => noisy.caller.send('put', `/v1/agents/a${i}`, {}));
    await sleep(500);
    const answers = await Promise.race([Promise.all(Array.from({ length: 10 }, (_, i) => quiet.caller.send('put', `/v1/agents/a${i}`, {}))), sleep(4_000, [])]);
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect((await quiet.caller.post('/v1/decide', { agentId: 'm' })).body.freshness).toBe('fresh');
    await holder.query('ROLLBACK');
    holder.release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(30).fill(201));
    await service.close();
  });
});
