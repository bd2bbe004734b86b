import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AnswerMemo } from '../../src/decision/answer-memo.js';
import { DATABASES } from '../support/databases.js';
import type { Answer, TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, startTestService } from '../support/test-service.js';

const QUESTION = { agentId: 'm', context: { scene: 'chat' } };

describe('the fast road for repeated decisions', () => {
  let service: TestService;
  let tenant: TestTenant;
  /** Answers that came out of the memo. */
  let found = 0;
  beforeAll(async () => {
    const [kind] = DATABASES;
    if (kind === undefined) throw new Error('no database');
    service = await startTestService(kind);
    const memo = service.app.get(AnswerMemo);
    const find = memo.find.bind(memo);
    memo.find = (...question) => {
      const answer = find(...question);
      if (answer !== undefined) found += 1;
      return answer;
    };
    tenant = await newTenant(service);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'ours', isCore: true }, { name: 'b', description: 'd' }] });
    await tenant.caller.send('put', '/v1/agents/m', {});
    // The first answer takes long to be held against the document, and a view is not fresh for long.
    await tenant.caller.post('/v1/decide', { agentId: 'm' });
  });
  afterAll(() => service.close());

  /** Asks, and tells whether the answer came out of the memo. */
  const ask = async (caller: Caller, body: unknown = QUESTION, headers: Record<string, string> = {}): Promise<Answer & { readonly fast: boolean }> => {
    found = 0;
    const answer = await caller.post('/v1/decide', body, headers);
    return { ...answer, fast: found > 0 };
  };
  const told = ({ status, text, headers }: Answer): unknown => [status, text, headers['etag'], headers['x-toolcrib-revision'], headers['content-type']];

  it('gives the bytes and headers of the ordinary one', async () => {
    const [first, second, third] = [await ask(tenant.caller), await ask(tenant.caller), await ask(tenant.caller)];
    // Most contexts come once: an answer is kept when its question comes again.
    expect([first.fast, second.fast, third.fast]).toEqual([false, false, true]);
    expect([told(second), told(third)]).toEqual([told(first), told(first)]);
    expect(third.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it('is left for any other question, language or tenant', async () => {
    await ask(tenant.caller);
    expect((await ask(tenant.caller, { ...QUESTION, context: { scene: 'crew' } })).fast).toBe(false);
    const chinese = await ask(tenant.caller, QUESTION, { 'accept-language': 'zh-CN' });
    expect([chinese.fast, chinese.body.disabledReasons.b.message]).toEqual([false, expect.stringMatching(/[\u4e00-\u9fff]/u)]);
    const other = await newTenant(service);
    await other.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'theirs', isCore: true }] });
    await other.caller.send('put', '/v1/agents/m', {});
    const theirs = await ask(other.caller);
    expect([theirs.fast, theirs.body.tools[0].description]).toEqual([false, 'theirs']);
    expect((await ask(tenant.caller)).body.tools[0].description).toBe('ours');
  });

  it('is left at once after a write', async () => {
    await ask(tenant.caller);
    await tenant.caller.write('patch', '/v1/agents/m', { tools: { disabled: ['a'] } });
    const after = await ask(tenant.caller);
    expect([after.fast, after.body.toolNames]).toEqual([false, []]);
    await tenant.caller.write('patch', '/v1/agents/m', { tools: { disabled: [] } });
    expect((await ask(tenant.caller)).body.toolNames).toEqual(['a']);
  });

  it('admits nobody whom the ordinary one refuses', async () => {
    await ask(tenant.caller);
    const reader = await tenant.withScopes('governance:read');
    expect((await ask(reader)).status).toBe(403);
    expect((await ask(new Caller(service, {}))).status).toBe(401);
    expect((await ask(tenant.caller, QUESTION, { 'x-tenant-id': 'somebody-else' })).status).toBe(404);
    const { body } = await tenant.caller.post('/v1/keys', { name: 'doomed', scopes: ['decide'] });
    const doomed = new Caller(service, { authorization: `Bearer ${body.key}` });
    expect([(await ask(doomed)).status, (await ask(doomed)).fast]).toEqual([200, true]);
    await tenant.caller.send('delete', `/v1/keys/${body.keyId}`);
    expect((await ask(doomed)).status).toBe(401);
  });

  it('keeps no error, and no answer older than a caller asks for', async () => {
    for (const round of [1, 2]) expect([round, await ask(tenant.caller, { agentId: 'later' }).then(({ status, fast }) => [status, fast])]).toEqual([round, [404, false]]);
    await tenant.caller.send('put', '/v1/agents/later', {});
    expect((await ask(tenant.caller, { agentId: 'later' })).status).toBe(200);
    const { body } = await ask(tenant.caller);
    expect((await ask(tenant.caller, { ...QUESTION, minRevision: body.revision })).status).toBe(200);
    expect((await ask(tenant.caller, { ...QUESTION, minRevision: Number(body.revision) + 1 })).status).toBe(503);
  });

  it('is left when the view is due for a look', async () => {
    await ask(tenant.caller);
    await sleep(700);
    expect((await ask(tenant.caller)).fast).toBe(false);
    // A busy machine may take longer for an answer than it is fresh.
    for (let tries = 0; tries < 20 && !(await ask(tenant.caller)).fast;) tries += 1;
    expect(found).toBe(1);
  });
});
