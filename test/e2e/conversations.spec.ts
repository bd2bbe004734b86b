import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DATABASES } from '../support/databases.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, startReplica, startTestService } from '../support/test-service.js';

const NAMES = Array.from({ length: 12 }, (_, i) => `tool_${String(i).padStart(2, '0')}`);
const PATH = '/v1/conversations/c/tool-loading';

describe.each(DATABASES)('conversations, $name', (kind) => {
  let service: TestService;
  let replica: TestService;
  let tenant: TestTenant;
  let here: Caller;
  let there: Caller;
  beforeAll(async () => {
    service = await startTestService(kind);
    replica = await startReplica(service);
  });
  afterAll(async () => {
    await replica.app.close();
    await service.close();
  });
  beforeEach(async () => {
    tenant = await newTenant(service);
    here = tenant.caller;
    const { body } = await here.post('/v1/keys', { name: 'another replica', scopes: ['admin'] });
    there = new Caller(replica, { authorization: `Bearer ${body.key}` });
    await here.post('/v1/tools/sync', {
      source: 's',
      categories: [{ key: 'k', label: 'K', whenToUse: 'now' }],
      tools: [...NAMES.map((name) => ({ name, description: 'd', isCore: true, loadingCategory: 'k' })), { name: 'plain', description: 'd', isCore: true }],
    });
    await here.send('put', '/v1/agents/m', {});
    await here.send('put', PATH, { agentId: 'm' });
  });

  const loadedIn = async (caller: Caller): Promise<string[]> => (await caller.get(PATH)).body.toolLoading.loaded;
  const question = { agentId: 'm', conversationId: 'c' };

  it('keep every load of many callers on two replicas', async () => {
    const answers = await Promise.all(NAMES.map((name, i) => (i % 2 === 0 ? here : there).post(`${PATH}/load`, { toolNames: [name] })));
    expect(answers.map(({ status, body }) => [status, body.loadedNow])).toEqual(NAMES.map((name) => [200, [name]]));
    expect((await loadedIn(there)).sort()).toEqual(NAMES);
  });

  it('lose no load to a compression: each name is loaded after it, or was told by it', async () => {
    const loads = NAMES.map((name, i) => (i % 2 === 0 ? here : there).post(`${PATH}/load`, { toolNames: [name] }));
    const compressions = [here, there, here].map((caller) => caller.post(`${PATH}/compression`, undefined));
    await Promise.all(loads);
    const told = (await Promise.all(compressions)).flatMap(({ body }) => body.previouslyLoaded as string[]);
    expect([...told, ...(await loadedIn(here))].sort()).toEqual(NAMES);
  });

  it('are begun once by many at the same time, whoever asks', async () => {
    const begin = (caller: Caller) => caller.send('put', '/v1/conversations/twin/tool-loading', { agentId: 'm', preferences: { toolLoadingDeferred: [NAMES[0]] } });
    const statuses = (await Promise.all(Array.from({ length: 8 }, (_, i) => begin(i % 2 === 0 ? here : there)))).map(({ status }) => status);
    expect([...statuses].sort()).toEqual([...Array.from({ length: 7 }, () => 200), 201]);
  });

  it('change the answer to the very same question at once, and its ETag', async () => {
    const ask = () => here.post('/v1/decide', question);
    const [first, again] = [await ask(), await ask()];
    expect([again.text, again.headers['etag']]).toEqual([first.text, first.headers['etag']]);
    await here.post(`${PATH}/load`, { toolNames: [NAMES[3]] });
    const after = await ask();
    expect(after.body.initialTools).toEqual(['plain', NAMES[3]]);
    expect(after.headers['etag']).not.toBe(first.headers['etag']);
    await here.post(`${PATH}/compression`, undefined);
    expect((await ask()).body.initialTools).toEqual(['plain']);
    await here.send('delete', PATH);
    expect((await ask()).body).toMatchObject({ toolLoading: null, searchableTools: [] });
    await here.send('put', PATH, { agentId: 'm' });
    expect((await ask()).body.searchableTools).toEqual(NAMES);
  });

  it('are not refused by check on a replica that has not heard of a load, and seen by decide within a moment', async () => {
    const call = { ...question, toolName: NAMES[0] };
    expect((await there.post('/v1/check', call)).body.code).toBe('TOOL_NOT_LOADED');
    await here.post(`${PATH}/load`, { toolNames: [NAMES[0]] });
    expect((await there.post('/v1/check', call)).body.code).toBe('OK');
    await here.post(`${PATH}/load`, { toolNames: [NAMES[1]] });
    await sleep(300);
    expect((await there.post('/v1/decide', question)).body.toolLoading.loaded).toEqual([NAMES[0], NAMES[1]]);
  });

  it('are no other tenant’s, and no governing key’s', async () => {
    const other = await newTenant(service);
    await other.caller.send('put', '/v1/agents/m', {});
    expect((await other.caller.get(PATH)).status).toBe(404);
    expect((await other.caller.post(`${PATH}/load`, { toolNames: [NAMES[0]] })).status).toBe(404);
    expect((await other.caller.post(`${PATH}/compression`, undefined)).status).toBe(404);
    expect((await other.caller.send('delete', PATH)).status).toBe(404);
    expect((await other.caller.post('/v1/decide', question)).body.toolLoading).toBeNull();
    const governor = await tenant.withScopes('governance:write');
    expect((await governor.get(PATH)).status).toBe(403);
    expect((await loadedIn(here))).toEqual([]);
  });

  it('take any state that a runtime holds, and any preferences, without ever failing', async () => {
    const decider = await tenant.withScopes('decide');
    await fc.assert(fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), fc.uuid(), async (held, id) => {
      const { status, body } = await decider.post('/v1/decide', { agentId: 'm', toolLoading: held, include: [] });
      expect(status).toBe(200);
      expect(body.initialTools).toHaveLength(NAMES.length + 1);
      const begun = await decider.send('put', `/v1/conversations/${id}/tool-loading`, { agentId: 'm', preferences: held });
      expect(begun.status).toBe(201);
    }), { numRuns: 60 });
  });

  it('refuse names that are no ids, and read ids of any script', async () => {
    const odd = encodeURIComponent('会话/№1 🗂️');
    expect((await here.send('put', `/v1/conversations/${odd}/tool-loading`, { agentId: 'm' })).status).toBe(201);
    expect((await here.get(`/v1/conversations/${odd}/tool-loading`)).body.conversationId).toBe('会话/№1 🗂️');
    expect((await here.post('/v1/decide', { agentId: 'm', conversationId: '会话/№1 🗂️' })).body.toolLoading.enabled).toBe(true);
    expect((await here.send('put', `/v1/conversations/${'x'.repeat(257)}/tool-loading`, { agentId: 'm' })).status).toBe(422);
    expect((await here.send('put', '/v1/conversations/%07/tool-loading', { agentId: 'm' })).status).toBe(422);
    for (const conversationId of ['\ud800', 'a\0b', 'x'.repeat(10_000), '']) {
      expect((await here.post('/v1/decide', { agentId: 'm', conversationId })).body.toolLoading).toBeNull();
    }
  });
});
