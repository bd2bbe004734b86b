import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DATABASES } from '../support/databases.js';
import type { Answer, TestService, TestTenant } from '../support/test-service.js';
import { newTenant, platform, startTestService } from '../support/test-service.js';

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

describe('the log of decisions', () => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    const [kind] = DATABASES;
    if (kind === undefined) throw new Error('no database');
    service = await startTestService(kind, { TOOLCRIB_DECISION_LOG: '1' });
    tenant = await newTenant(service);
    const schema = { type: 'object', properties: { path: { type: 'string', maxLength: 5 } } };
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true, inputSchema: schema }, { name: 'b', description: 'd' }] });
    await tenant.caller.send('put', '/v1/agents/m', {});
    await tenant.caller.post('/v1/decide', { agentId: 'm' });
  });
  afterAll(() => service.close());
  beforeEach(() => void service.logged.splice(0));

  const lines = (): any[] => service.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'decision');
  async function logged(count: number): Promise<any[]> {
    for (let tries = 0; tries < 100 && lines().length < count; tries += 1) await sleep(10);
    return lines();
  }
  const decide = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> => tenant.caller.post('/v1/decide', body, headers);

  it('says who asked, for which agent, and what came of it, never what was asked', async () => {
    const answer = await decide({ agentId: 'm', conversationId: null, context: { attributes: { who: 'attribute-secret' } } }, { 'x-request-id': 'ask-1' });
    expect(await logged(1)).toEqual([{
      level: 30, time: expect.any(Number), msg: 'decision', kind: 'decide', tenant: tenant.tenantId, keyId: expect.any(String), agentId: 'm', revision: answer.body.revision,
      projection: digestOf(answer.text), outcome: 'ok', durationMs: expect.any(Number), freshness: 'fresh', road: expect.stringMatching(/^(?:ahead|ordinary)$/u), requestId: 'ask-1',
    }]);
    expect(service.logged.join()).not.toContain('attribute-secret');
  });

  it('has the same digest on every road, and of what is not sent because the caller has it', async () => {
    const question = { agentId: 'm', context: { scene: 'chat' } };
    const first = await decide(question);
    for (let i = 0; i < 4; i += 1) await decide(question);
    const etag = first.headers['etag'] ?? '';
    expect((await decide(question, { 'if-none-match': etag })).status).toBe(304);
    // Asked for the first time, by who has the answer all the same.
    const other = { agentId: 'm', context: { scene: 'crew' } };
    const { headers: { etag: known = '' }, text } = await decide(other);
    const again = await decide(other, { 'if-none-match': known });
    expect(again.status).toBe(304);
    await tenant.caller.post('/v1/decide/batch', { requests: [question, { agentId: 'nobody' }, question] });
    await platform(service, tenant.tenantId).post('/v1/decide', question);
    const all = await logged(11);
    const ofFirst = [...all.slice(0, 6), ...all.slice(8)];
    expect(ofFirst.map(({ projection }) => projection)).toEqual(ofFirst.map(() => digestOf(first.text)));
    expect(all.slice(6, 8).map(({ projection }) => projection)).toEqual([digestOf(text), digestOf(text)]);
    expect(all.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'not_modified', 'ok', 'not_modified', 'ok', 'ok', 'ok']);
    expect(all.map(({ item }) => item)).toEqual([...Array<undefined>(8).fill(undefined), 0, 2, undefined]);
    expect(all[10]).toMatchObject({ keyId: null, road: 'ordinary' });
    expect(all.some(({ road }) => road === 'ahead')).toBe(true);
  });

  it('names the parent and the conversation', async () => {
    await tenant.caller.send('put', '/v1/agents/parent', {});
    expect((await tenant.caller.send('put', '/v1/conversations/talk-1/tool-loading', { agentId: 'm' })).status).toBe(201);
    const answer = await decide({ agentId: 'm', conversationId: 'talk-1', context: { subagent: { parentAgentId: 'parent', depth: 1 } } });
    expect(answer.status).toBe(200);
    expect((await logged(1))[0]).toMatchObject({ agentId: 'm', parentAgentId: 'parent', conversationId: 'talk-1' });
    await decide({ agentId: 'm', conversationId: 'x'.repeat(10_000) });
    expect((await logged(2))[1].conversationId).toBe('x'.repeat(256));
  });

  it('tells the verdict of a check, and never its arguments', async () => {
    await tenant.caller.post('/v1/check', { agentId: 'm', toolName: 'a', arguments: { path: 'x' } });
    const refused = await tenant.caller.post('/v1/check', { agentId: 'm', toolName: 'a', arguments: { path: 'argument-secret' } });
    const [allowed, line] = await logged(2);
    expect(allowed).toMatchObject({ kind: 'check', toolName: 'a', allowed: true, code: 'OK', stage: null, revision: refused.body.revision, freshness: 'fresh', road: expect.stringMatching(/^(?:ahead|ordinary)$/u) });
    expect(line).toMatchObject({ toolName: 'a', allowed: false, code: refused.body.code, stage: refused.body.stage });
    expect('projection' in line).toBe(false);
    expect(service.logged.join()).not.toContain('argument-secret');
  });

  it('leaves out what failed, which is no decision', async () => {
    expect((await decide({ agentId: 'nobody' })).status).toBe(404);
    await decide({ agentId: 'm' });
    expect((await logged(1)).map(({ agentId }) => agentId)).toEqual(['m']);
  });
});
