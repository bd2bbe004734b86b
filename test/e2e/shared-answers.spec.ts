import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PolicyLoader } from '../../src/policy/policy.loader.js';
import { DATABASES } from '../support/databases.js';
import type { Answer, TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, startReplica, startTestService } from '../support/test-service.js';

const redisServer = process.env['TEST_REDIS_URL'];
const REDIS = { REDIS_URL: redisServer ?? '' };

(redisServer === undefined ? describe.skip : describe)('a replica that has not read a tenant yet', () => {
  let service: TestService;
  let tenant: TestTenant;
  let key = '';
  const replicas: TestService[] = [];
  beforeAll(async () => {
    const kind = DATABASES.at(-1);
    if (kind === undefined) throw new Error('no database');
    service = await startTestService(kind, REDIS);
    tenant = await newTenant(service);
    await tenant.caller.post('/v1/tools/sync', { source: 's', categories: [{ key: 'k', label: 'K', whenToUse: 'now' }], tools: [{ name: 'a', description: 'd', isCore: true }, { name: 'b', description: 'd', isCore: true, loadingCategory: 'k' }] });
    await tenant.caller.send('put', '/v1/agents/m', {});
    await tenant.caller.send('put', '/v1/conversations/c/tool-loading', { agentId: 'm' });
    ({ body: { key } } = await tenant.caller.post('/v1/keys', { name: 'everywhere', scopes: ['admin'] }));
  });
  afterEach(() => Promise.all(replicas.splice(0).map((replica) => replica.app.close())));
  afterAll(() => service.close());

  /** A new replica that can not read whole tenants until it is let. */
  async function coldReplica(): Promise<{ caller: Caller; let: () => void }> {
    const replica = await startReplica(service, REDIS);
    replicas.push(replica);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const loader = replica.app.get(PolicyLoader);
    const load = loader.load.bind(loader);
    loader.load = async (...asked) => held.then(() => load(...asked));
    return { caller: new Caller(replica, { authorization: `Bearer ${key}` }), let: release };
  }

  /** Until the answer is handed on: it is asked for the third time. */
  async function asked(question: object): Promise<Answer> {
    const answers = [];
    for (let i = 0; i < 4; i += 1) answers.push(await tenant.caller.post('/v1/decide', question));
    await sleep(200);
    const [first] = answers;
    if (first === undefined) throw new Error('no answer');
    return first;
  }

  const settled = async (answer: Promise<Answer>): Promise<Answer | 'waiting'> => Promise.race([answer, sleep(700, 'waiting' as const)]);

  it('answers what another one has answered, in the same bytes, with the same ETag, and 304', async () => {
    const question = { agentId: 'm' };
    const first = await asked(question);
    const { caller, let: letRead } = await coldReplica();
    const shared = await settled(caller.post('/v1/decide', { context: {}, ...question }));
    expect(shared).toMatchObject({ status: 200, text: first.text });
    const same = await settled(caller.post('/v1/decide', question));
    expect(same).toMatchObject({ status: 200, text: first.text, headers: { etag: first.headers['etag'], 'x-toolcrib-revision': first.headers['x-toolcrib-revision'] } });
    expect(await settled(caller.post('/v1/decide', question, { 'if-none-match': first.headers['etag'] ?? '' }))).toMatchObject({ status: 304, text: '' });
    letRead();
    expect((await caller.post('/v1/decide', question)).text).toBe(first.text);
  });

  it('answers in a conversation by the state that it is in', async () => {
    const question = { agentId: 'm', conversationId: 'c' };
    const first = await asked(question);
    expect(first.body.initialTools).toEqual(['a']);
    const { caller, let: letRead } = await coldReplica();
    expect(await settled(caller.post('/v1/decide', question))).toMatchObject({ text: first.text });
    await tenant.caller.post('/v1/conversations/c/tool-loading/load', { toolNames: ['b'] });
    await sleep(300);
    const later = caller.post('/v1/decide', question);
    expect(await settled(later)).toBe('waiting');
    letRead();
    expect((await later).body.initialTools).toEqual(['a', 'b']);
  });

  it('works out by itself what nobody has answered: another question, another revision, a later one than is there', async () => {
    const question = { agentId: 'm', select: ['a'] };
    await asked(question);
    const { caller, let: letRead } = await coldReplica();
    const other = caller.post('/v1/decide', { agentId: 'm', select: ['b'] });
    expect(await settled(other)).toBe('waiting');
    await tenant.caller.write('patch', '/v1/agents/m', { tools: { disabled: ['a'] } });
    const later = caller.post('/v1/decide', question);
    expect(await settled(later)).toBe('waiting');
    const far = caller.post('/v1/decide', { ...question, minRevision: 9_999 });
    letRead();
    expect([(await other).body.toolNames, (await later).body.toolNames, (await far).body.code]).toEqual([['b'], [], 'REVISION_NOT_REACHED']);
  });

  it('admits nobody who is not admitted elsewhere', async () => {
    await asked({ agentId: 'm', select: [] });
    const { caller, let: letRead } = await coldReplica();
    const stranger = await newTenant(service);
    const theirs = await stranger.caller.post('/v1/keys', { name: 'theirs', scopes: ['decide'] });
    const reader = await tenant.caller.post('/v1/keys', { name: 'reader', scopes: ['governance:read'] });
    const replica = replicas.at(-1);
    if (replica === undefined) throw new Error('no replica');
    const as = (bearer: string) => new Caller(replica, { authorization: `Bearer ${bearer}` }).post('/v1/decide', { agentId: 'm', select: [] });
    expect((await as(reader.body.key)).status).toBe(403);
    expect((await as(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)).status).toBe(401);
    const none = as(theirs.body.key);
    letRead();
    expect((await none).body.code).toBe('AGENT_NOT_FOUND');
    expect((await caller.post('/v1/decide', { agentId: 'm', select: [] })).status).toBe(200);
  });
});
