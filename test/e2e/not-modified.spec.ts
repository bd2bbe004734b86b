import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { TenantId } from '../../src/platform/tenant-id.js';
import { PolicyViews } from '../../src/policy/policy-views.js';
import { DATABASES } from '../support/databases.js';
import type { Answer, Json, TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, platform, startTestService } from '../support/test-service.js';

const QUESTION = { agentId: 'm', context: { scene: 'chat' } };
const PATH = '/v1/conversations/c/tool-loading';

describe.each(DATABASES)('304 for a decision that the caller still has, $name', (kind) => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    tenant = await newTenant(service);
    await prepare(tenant.caller);
  });

  const prepare = async (caller: Caller): Promise<void> => {
    await caller.post('/v1/tools/sync', { source: 's', categories: [{ key: 'k', label: 'K', whenToUse: 'now' }], tools: ['a', 'b'].map((name) => ({ name, description: 'd', isCore: true, loadingCategory: 'k' })) });
    for (const agentId of ['m', 'n']) await caller.send('put', `/v1/agents/${agentId}`, {});
  };
  const ask = (ifNoneMatch: string, body: unknown = QUESTION, caller = tenant.caller, headers: Record<string, string> = {}): Promise<Answer> =>
    caller.post('/v1/decide', body, { 'if-none-match': ifNoneMatch, ...headers });
  /** The ETag of an answer that has been given often enough to come out of memory. */
  const etagOf = async (body: unknown = QUESTION): Promise<string> => {
    let etag = '';
    for (let time = 0; time < 3; time += 1) etag = (await tenant.caller.post('/v1/decide', body)).headers['etag'] ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/u);
    return etag;
  };

  it('has no body, and the ETag, revision and request id of the answer', async () => {
    const etag = await etagOf();
    const whole = await tenant.caller.post('/v1/decide', QUESTION);
    const { status, text, headers } = await ask(etag, QUESTION, tenant.caller, { 'x-request-id': 'mine' });
    expect([status, text]).toEqual([304, '']);
    expect(headers).toMatchObject({ etag, 'x-toolcrib-revision': whole.headers['x-toolcrib-revision'], 'x-request-id': 'mine' });
    expect(headers).not.toHaveProperty('content-type');
    const { text: metrics } = await new Caller(service, {}).get('/metrics');
    expect(metrics).toContain(`toolcrib_decide_duration_seconds_count{tenant="${tenant.tenantId}",outcome="not_modified"} 1`);
  });

  it('is given on the first asking as well, on either road', async () => {
    const { headers } = await tenant.caller.post('/v1/decide', QUESTION);
    const etag = headers['etag'] ?? '';
    expect((await ask(etag)).status).toBe(304);
    service.app.get(PolicyViews).noteCommit(tenant.tenantId as TenantId);
    expect((await ask(etag)).status).toBe(304);
    expect((await ask(etag, QUESTION, platform(service, tenant.tenantId))).status).toBe(304);
  });

  it('reads a list, weak tags too, and takes `*` for no ETag', async () => {
    const etag = await etagOf();
    for (const list of [`W/${etag}`, `"other", ${etag}`, `W/"x",W/${etag} , "y"`]) expect([list, (await ask(list)).status]).toEqual([list, 304]);
    for (const list of ['*', '"other"', etag.slice(1, -1), `x${etag}`, '']) expect([list, (await ask(list)).status]).toEqual([list, 200]);
  });

  it.each<[string, Json, Record<string, string>]>([
    ['another context', { ...QUESTION, context: { scene: 'crew' } }, {}],
    ['another include', { ...QUESTION, include: ['tools'] }, {}],
    ['another agent', { ...QUESTION, agentId: 'n' }, {}],
    ['the same in other bytes', { context: { scene: 'chat' }, agentId: 'm' }, {}],
    ['another language', QUESTION, { 'accept-language': 'zh' }],
  ])('is not for %s', async (_what, body, headers) => {
    const etag = await etagOf();
    const other = await ask(etag, body, tenant.caller, headers);
    expect([other.status, other.headers['etag'] === etag]).toEqual([200, false]);
  });

  it('ends with a write of governance, and with a load in the conversation', async () => {
    await tenant.caller.send('put', PATH, { agentId: 'm' });
    const talking = { agentId: 'm', conversationId: 'c' };
    const etag = await etagOf(talking);
    expect((await ask(etag, talking)).status).toBe(304);
    await tenant.caller.post(`${PATH}/load`, { toolNames: ['a'] });
    expect((await ask(etag, talking)).status).toBe(200);
    const loaded = await etagOf(talking);
    await tenant.caller.write('patch', '/v1/tools/b', { label: 'B' });
    expect((await ask(loaded, talking)).status).toBe(200);
  });

  it('is no other tenant’s, and nobody’s whom the answer would be refused', async () => {
    const etag = await etagOf();
    const other = await newTenant(service);
    await prepare(other.caller);
    expect((await ask(etag, QUESTION, other.caller)).status).toBe(200);
    expect((await ask(etag, QUESTION, await tenant.withScopes('governance:read'))).status).toBe(403);
    expect((await ask(etag, QUESTION, new Caller(service, {}))).status).toBe(401);
    expect((await ask(etag, { ...QUESTION, minRevision: 1_000 })).status).toBe(503);
    const { body } = await tenant.caller.post('/v1/keys', { name: 'doomed', scopes: ['decide'] });
    const doomed = new Caller(service, { authorization: `Bearer ${body.key}` });
    expect((await ask(etag, QUESTION, doomed)).status).toBe(304);
    await tenant.caller.send('delete', `/v1/keys/${body.keyId}`);
    expect((await ask(etag, QUESTION, doomed)).status).toBe(401);
  });

  it('asks the database for nothing', async () => {
    const etag = await etagOf();
    const looks = [jest.spyOn(service.database, 'inTenant'), jest.spyOn(service.database, 'asPlatform'), jest.spyOn(service.database, 'ping')];
    const seen = (): number => looks.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    // What is known is fresh for a moment only, which a busy machine may miss.
    let without = false;
    for (let tries = 0; tries < 50 && !without; tries += 1) {
      const before = seen();
      expect((await ask(etag)).status).toBe(304);
      without = seen() === before;
    }
    expect(without).toBe(true);
    looks.forEach((look) => look.mockRestore());
  });

  it('is not for a stale answer, which has no ETag', async () => {
    const etag = await etagOf();
    const away = jest.spyOn(service.database, 'inTenant').mockRejectedValue(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    let stale = await ask(etag);
    for (let tries = 0; tries < 50 && stale.status === 304; tries += 1) {
      await sleep(100);
      stale = await ask(etag);
    }
    expect([stale.status, stale.body.freshness, stale.headers['etag']]).toEqual([200, 'stale', undefined]);
    expect(stale.headers['x-toolcrib-revision']).toBe(String(stale.body.revision));
    away.mockRestore();
  });
});
