import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Sweeper } from '../../src/platform/retention/sweeper.js';
import { DATABASES } from '../support/databases.js';
import type { Answer, TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, platform, startReplica, startTestService } from '../support/test-service.js';

const tools = (count: number, more: object = {}): object[] => Array.from({ length: count }, (_, i) => ({ name: `t${i}`, description: 'd', ...more }));
const revisionOf = ({ headers }: Answer): number => Number(headers['x-toolcrib-revision']);
const revisionsIn = ({ body }: Answer): number[] => body.items.map(({ revision }: { revision: number }) => revision);

describe.each(DATABASES)('history, $name', (kind) => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    service = await startTestService(kind, { TOOLCRIB_MAX_TOOLS: '20', TOOLCRIB_MAX_AGENTS: '3' });
  });
  beforeEach(async () => {
    tenant = await newTenant(service);
  });
  afterAll(() => service.close());

  const age = (revision: number, days: number) =>
    service.database.pool.query('UPDATE history SET at = now() - make_interval(days => $3) WHERE tenant_id = $1 AND revision = $2', [tenant.tenantId, revision, days]);

  it('says whose key it was, also that of the platform, and in which request', async () => {
    const { caller } = tenant;
    await caller.send('put', '/v1/agents/m', {}, { 'x-request-id': 'first-1' });
    await platform(service, tenant.tenantId).send('put', '/v1/agents/n', {});
    const { body } = await caller.get('/v1/history');
    const [second, first] = body.items;
    expect(first).toMatchObject({ revision: 1, requestId: 'first-1', actor: { name: 'decide sync governance:read governance:write admin' }, entity: 'agent', id: 'm', action: 'create', reverts: null, plan: null, abridged: false });
    expect(second).toMatchObject({ revision: 2, actor: { keyId: 'platform', name: 'platform key' }, requestId: expect.stringMatching(/^[\w-]{36}$/u) });
    expect(revisionsIn(await caller.get(`/v1/history?actor=${first.actor.keyId}`))).toEqual([1]);
    expect(revisionsIn(await caller.get('/v1/history?actor=platform'))).toEqual([2]);
    const { body: keys } = await caller.get('/v1/keys');
    expect(keys.items.map(({ keyId }: { keyId: string }) => keyId)).toContain(first.actor.keyId);
    const one = await caller.get('/v1/history/1');
    expect([one.body, one.headers['x-toolcrib-revision']]).toEqual([first, '1']);
  });

  it('is asked for by what, which one and when, and refuses what it can not understand', async () => {
    const { caller } = tenant;
    await caller.post('/v1/tools/sync', { source: 's', tools: tools(2) });
    await caller.send('put', '/v1/agents/s', {});
    await caller.write('patch', '/v1/tools/t1', { sort: 4 });
    await caller.write('patch', '/v1/settings', { historyRetentionDays: 30 });
    await age(1, 3);
    const since = (days: number): string => encodeURIComponent(new Date(Date.now() - days * 86_400_000).toISOString().replace('Z', '+00:00'));
    for (const [query, found] of [
      ['', [4, 3, 2, 1]], ['entity=sync', [1]], ['entity=agent&id=s', [2]], ['id=s', [2, 1]], ['entity=tool&id=t1', [3]], ['entity=settings&id=settings', [4]], ['id=nothing', []],
      [`from=${since(1)}`, [4, 3, 2]], [`to=${since(1)}`, [1]], [`from=${since(4)}&to=${since(2)}`, [1]], ['to=0000-01-01T00:00:00Z', []], ['from=9999-12-31T23:59:59Z', []], ['actor=x', []], ['entity=&id=s', null],
      ['entity=key', null], ['from=yesterday', null], ['to=2026-13-01T00:00:00Z', null], ['from=2026-01-01', null], ['limit=0', null], ['cursor=x', null], ['cursor=WzEuNV0', null], ['cursor=WyJhIl0', null], ['entitty=sync', null], ['id=a&id=b', null],
    ] as const) {
      const answer = await caller.get(`/v1/history?${query}`);
      expect({ query, found: answer.status === 400 ? null : revisionsIn(answer) }).toEqual({ query, found });
    }
    for (const revision of ['0', '5', '-1', '1.5', 'x', '99999999999999999999', '1e1']) {
      expect({ revision, code: (await caller.get(`/v1/history/${revision}`)).body.code }).toEqual({ revision, code: 'HISTORY_ENTRY_NOT_FOUND' });
    }
    for (const [body, status] of [[{ force: 'yes' }, 422], [{ forced: true }, 422], ['', 422], ['{', 400], [{ force: null }, 200]] as const) {
      expect({ body, status: (await caller.post('/v1/history/4/revert', body)).status }).toEqual({ body, status });
    }
    expect((await caller.get('/v1/settings')).body.historyRetentionDays).toBe(400);
    for (const days of [0, 3_651, 1.5, '30']) expect((await caller.write('patch', '/v1/settings', { historyRetentionDays: days })).status).toBe(422);
  });

  it('comes in pages that neither repeat nor skip an entry, whatever is written meanwhile', async () => {
    const { caller } = tenant;
    await caller.send('put', '/v1/agents/m', {});
    const rename = (i: number) => caller.write('patch', '/v1/agents/m', { displayName: `name ${i}` });
    for (let i = 0; i < 8; i += 1) await rename(i);
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await caller.get(`/v1/history?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...revisionsIn(page));
      await rename(100 + seen.length);
      cursor = page.body.nextCursor;
    }
    expect(seen).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it('keeps a large sync whole, and lists it without what it changed', async () => {
    const { caller } = tenant;
    await caller.post('/v1/tools/sync', { source: 's', tools: tools(20, { description: 'x'.repeat(1_000) }) });
    const { body } = await caller.get('/v1/history');
    expect(body.items).toEqual([expect.objectContaining({ revision: 1, abridged: true, before: null, after: null, plan: null })]);
    const whole = await caller.get('/v1/history/1');
    expect(whole.body).toMatchObject({ abridged: false, plan: { added: expect.arrayContaining(['t0', 't19']) } });
    expect(whole.body.after.tools).toHaveLength(20);
  });

  it('holds a revert to the limits and rules of every other write', async () => {
    const { caller } = tenant;
    await caller.post('/v1/tools/sync', { source: 's', tools: tools(2) });
    await caller.post('/v1/tools/sync', { source: 's', confirmRemovals: true, tools: [] });
    const deleted = revisionOf(await caller.send('delete', '/v1/tools/t0'));
    await caller.post('/v1/tools/sync', { source: 'other', tools: tools(19).map((tool, i) => ({ ...tool, name: `o${i}` })) });
    expect((await caller.post(`/v1/history/${deleted}/revert`, {})).body).toMatchObject({ status: 422, code: 'LIMIT_EXCEEDED' });
    expect((await caller.post('/v1/history/2/revert', { force: true })).body).toMatchObject({ status: 422, code: 'LIMIT_EXCEEDED' });
    for (const id of ['a', 'b', 'c']) await caller.send('put', `/v1/agents/${id}`, {});
    const gone = revisionOf(await caller.send('delete', '/v1/agents/a'));
    await caller.send('put', '/v1/agents/d', {});
    expect((await caller.post(`/v1/history/${gone}/revert`, {})).body).toMatchObject({ status: 422, code: 'LIMIT_EXCEEDED' });
    expect(revisionsIn(await caller.get('/v1/history'))[0]).toBe(gone + 1);
  });

  it('is reverted once, however many ask at once and on whichever replica', async () => {
    const { caller } = tenant;
    const replica = await startReplica(service);
    const { body: { key } } = await caller.post('/v1/keys', { name: 'another replica', scopes: ['admin'] });
    const there = new Caller(replica, { authorization: `Bearer ${key}` });
    await caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }] });
    await caller.send('put', '/v1/agents/m', {});
    const closed = revisionOf(await caller.send('put', '/v1/agents/m/tools/a/switch', { on: false }));
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? caller : there).post(`/v1/history/${closed}/revert`, {})));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(answers.filter(({ body }) => body.changed)).toHaveLength(1);
    expect((await there.post('/v1/decide', { agentId: 'm', minRevision: closed + 1 })).body).toMatchObject({ revision: closed + 1, toolNames: ['a'] });
    await replica.app.close();
  });

  it('is removed by the sweeper when it is older than its tenant keeps it, and what is left stays as it was', async () => {
    const { caller } = tenant;
    await caller.send('put', '/v1/agents/m', {});
    for (let i = 0; i < 3; i += 1) await caller.write('patch', '/v1/agents/m', { displayName: `name ${i}` });
    await caller.write('patch', '/v1/settings', { historyRetentionDays: 7 });
    await age(1, 500);
    await age(2, 8);
    await age(3, 6);
    const kept = await caller.get('/v1/history/3');
    await service.app.get(Sweeper).sweepAll();
    expect(revisionsIn(await caller.get('/v1/history'))).toEqual([5, 4, 3]);
    expect((await caller.get('/v1/history/3')).body).toEqual(kept.body);
    expect((await caller.post('/v1/history/1/revert', {})).status).toBe(404);
    expect((await caller.get('/v1/agents/m')).body.displayName).toBe('name 2');
  });

  it('of another tenant can be neither read nor reverted', async () => {
    const other = await newTenant(service);
    await tenant.caller.send('put', '/v1/agents/secret', {});
    expect((await other.caller.get('/v1/history')).body.items).toEqual([]);
    expect((await other.caller.get('/v1/history/1')).status).toBe(404);
    expect((await other.caller.post('/v1/history/1/revert', { force: true })).status).toBe(404);
    expect((await tenant.caller.get('/v1/agents/secret')).status).toBe(200);
  });
});
