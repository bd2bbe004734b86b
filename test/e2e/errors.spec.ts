import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DATABASES } from '../support/databases.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { newTenant, startTestService } from '../support/test-service.js';

const nested = (levels: number): string => `{"agentId":"m","context":{"attributes":{"a":${'['.repeat(levels - 3)}${']'.repeat(levels - 3)}}}}`;

describe('errors', () => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    const [kind] = DATABASES;
    if (kind === undefined) throw new Error('no database');
    service = await startTestService(kind, { TOOLCRIB_MAX_TOOLS: '20', TOOLCRIB_MAX_AGENTS: '3', TOOLCRIB_MAX_LIST_LENGTH: '50', TOOLCRIB_MAX_BATCH: '5', TOOLCRIB_MAX_BATCH_ANSWER_BYTES: '2000' });
    tenant = await newTenant(service);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'read_file', description: 'd', isCore: true }] });
    await tenant.caller.send('put', '/v1/agents/m', {});
  });
  afterAll(() => service.close());

  it('are problem documents that carry the request’s id', async () => {
    const { headers, body } = await tenant.caller.post('/v1/decide', { agentId: 'ghost' }, { 'x-request-id': 'req-1' });
    expect(headers).toMatchObject({ 'content-type': expect.stringContaining('application/problem+json'), 'x-request-id': 'req-1' });
    expect(body).toEqual({ type: 'urn:toolcrib:error:agent-not-found', title: 'there is no such agent', status: 404, detail: 'there is no agent `ghost`', code: 'AGENT_NOT_FOUND', requestId: 'req-1' });
    const own = await tenant.caller.get('/v1/nothing', { 'x-request-id': 'not an\tid' });
    expect(own.body).toMatchObject({ status: 404, code: 'NOT_FOUND', requestId: own.headers['x-request-id'] });
    expect(own.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/u);
  });

  it('tell the methods that a path has, and only of paths that are there', async () => {
    for (const [method, path, allow] of [['put', '/v1/decide', 'POST'], ['post', '/v1/agents/m?x=1', 'DELETE, GET, HEAD, PATCH, PUT'], ['delete', '/health/live', 'GET, HEAD']] as const) {
      const { status, headers, body } = await tenant.caller.send(method, path);
      expect({ path, status, allow: headers['allow'], code: body.code }).toEqual({ path, status: 405, allow, code: 'METHOD_NOT_ALLOWED' });
    }
    for (const path of ['/v1/decide/none', '/v1/agents/m/none', '/v1/agents/']) expect((await tenant.caller.send('put', path)).body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it('stand in a batch where the answer would be, also where all answers together would be too much', async () => {
    const [large, small] = [{ agentId: 'm' }, { agentId: 'm', include: [] }];
    const { status, body } = await tenant.caller.post('/v1/decide/batch', { requests: [large, large, large, { agentId: 'ghost' }, small] });
    expect(status).toBe(200);
    expect(body.results.map((result: { ok?: { toolNames: string[] }; error?: { code: string } }) => result.error?.code ?? result.ok?.toolNames)).toEqual([['read_file'], ['read_file'], 'LIMIT_EXCEEDED', 'AGENT_NOT_FOUND', ['read_file']]);
    expect(body.results[2].error).toMatchObject({ status: 422, detail: 'the answers of a batch hold at most 2000 bytes together: ask for less at once', requestId: expect.any(String) });
  });

  it.each<[string, string, string | object, Record<string, string>, number, string]>([
    ['what is not JSON', '/v1/decide', '{', {}, 400, 'INVALID_JSON'],
    ['nothing at all', '/v1/decide', '', {}, 422, 'INVALID_REQUEST'],
    ['another type of body', '/v1/decide', '{}', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a list', '/v1/decide', [], {}, 422, 'INVALID_REQUEST'],
    ['null', '/v1/decide/batch', 'null', {}, 422, 'INVALID_REQUEST'],
    ['a list where an object is meant', '/v1/agents/import', [], {}, 422, 'INVALID_REQUEST'],
    ['an unknown member', '/v1/decide', { agentId: 'm', contxt: {} }, {}, 422, 'INVALID_REQUEST'],
    ['an exposure that this version does not know', '/v1/decide', { agentId: 'm', exposure: 'hidden' }, {}, 422, 'INVALID_REQUEST'],
    ['a body over 256 KiB', '/v1/decide', { agentId: 'm', context: { attributes: { x: 'x'.repeat(256 * 1024) } } }, {}, 413, 'BODY_TOO_LARGE'],
    ['65 levels of JSON', '/v1/decide', nested(65), {}, 422, 'LIMIT_EXCEEDED'],
    ['a batch of too many', '/v1/decide/batch', { requests: Array.from({ length: 6 }, () => ({ agentId: 'm' })) }, {}, 422, 'LIMIT_EXCEEDED'],
    ['a list of too many names', '/v1/decide', { agentId: 'm', select: Array.from({ length: 51 }, (_, i) => `t${i}`) }, {}, 422, 'INVALID_REQUEST'],
    ['a sync of too many', '/v1/tools/sync', { source: 's', tools: Array.from({ length: 21 }, (_, i) => ({ name: `t${i}`, description: 'd' })) }, {}, 422, 'LIMIT_EXCEEDED'],
    ['an agent twice', '/v1/agents/import', { agents: [{ agentId: 'x' }, { agentId: 'x' }] }, {}, 422, 'INVALID_REQUEST'],
    ['too many agents', '/v1/agents/import', { agents: [1, 2, 3].map((i) => ({ agentId: `x${i}` })) }, {}, 422, 'LIMIT_EXCEEDED'],
    ['a category twice', '/v1/tools/sync', { source: 's', tools: [], categories: [{ key: 'k', label: 'a', whenToUse: 'b' }, { key: 'k', label: 'c', whenToUse: 'd' }] }, {}, 422, 'INVALID_REQUEST'],
  ])('tell %s', async (_, path, body, headers, status, code) => {
    expect((await tenant.caller.post(path, body, headers)).body).toMatchObject({ status, code });
  });

  it('tell a list of too many names in a document, and leave what is free-form alone', async () => {
    const names = Array.from({ length: 51 }, (_, i) => `t${i}`);
    const overrides = Object.fromEntries(names.map((name) => [name, { label: 'x' }]));
    for (const body of [{ tools: { enabled: names } }, { availableTools: names }, { toolOverrides: overrides }]) {
      expect((await tenant.caller.send('put', '/v1/agents/long', body)).body).toMatchObject({ status: 422, code: 'LIMIT_EXCEEDED' });
    }
    const categories = names.map((key) => ({ key, label: 'l', whenToUse: 'w' }));
    expect((await tenant.caller.post('/v1/tools/sync', { source: 'c', tools: [], categories })).body.code).toBe('LIMIT_EXCEEDED');
    const inputSchema = { type: 'object', properties: { a: { enum: names } } };
    const extra = { workerRoutingStrategy: 'auto', ours: names };
    expect((await tenant.caller.post('/v1/tools/sync', { source: 'c', dryRun: true, tools: [{ name: 'wide', description: 'd', inputSchema, extra }] })).body).toMatchObject({ added: ['wide'] });
    expect((await tenant.caller.post('/v1/check', { agentId: 'm', toolName: 'read_file', arguments: { names }, context: { attributes: { names } } })).body.allowed).toBe(true);
  });

  it('lose nothing: 64 levels are fine, and so is a tenant at its limits', async () => {
    expect((await tenant.caller.post('/v1/decide', nested(64))).status).toBe(200);
    const many = Array.from({ length: 19 }, (_, i) => ({ name: `t${i}`, description: 'd' }));
    const body = { source: 'more', tools: many };
    expect((await tenant.caller.post('/v1/tools/sync', body)).body).toMatchObject({ added: { length: 19 }, rejected: [] });
    expect((await tenant.caller.post('/v1/tools/sync', { source: 'yet more', tools: [{ name: 'z', description: 'd' }] })).body.code).toBe('LIMIT_EXCEEDED');
    expect((await tenant.caller.get('/v1/tools')).body.items).toHaveLength(20);
  });

  it('name the place of every fault in a body', async () => {
    const { body } = await tenant.caller.send('put', '/v1/agents/fresh', { tools: { enable: [], disabled: 'x' }, subagentConfig: { enabled: 1 }, skills: [{ name: 'a' }], toolOverrides: { web: { lable: 'x' } } });
    expect(body.errors.map(({ path }: { path: string }) => path).sort()).toEqual(expect.arrayContaining(['/skills/0/entry', '/subagentConfig/enabled', '/toolOverrides/web/lable', '/tools/disabled', '/tools/enable']));
    const decided = await tenant.caller.post('/v1/decide', { agentId: 7, context: { session: { allowshell: true }, subagent: { depth: 65 } } });
    expect(decided.body.errors.map(({ path }: { path: string }) => path).sort()).toEqual(['/agentId', '/context/session/allowshell', '/context/subagent/depth', '/context/subagent/parentAgentId']);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('call a member named %s unknown where no name is meant', async (member) => {
    const stray = `{"${member}":{}}`;
    const { headers } = await tenant.caller.get('/v1/settings');
    const writes = [
      await tenant.caller.send('patch', '/v1/settings', stray, { 'if-match': headers['etag'] ?? '' }),
      await tenant.caller.send('patch', '/v1/tools/read_file', stray, { 'if-match': '"1"' }),
      await tenant.caller.send('put', '/v1/agents/odd', stray),
      await tenant.caller.send('put', '/v1/agents/odd', `{"tools":${stray}}`),
      await tenant.caller.post('/v1/agents/import', `{"agents":[{"agentId":"odd","${member}":1}]}`),
      await tenant.caller.post('/v1/tools/sync', `{"source":"s","tools":[],"${member}":1}`),
      await tenant.caller.post('/v1/decide', `{"agentId":"m","${member}":1}`),
    ];
    expect(writes.map(({ status }) => status)).toEqual(writes.map(() => 422));
  });

  it.each(['/v1/agents/m/actions/clear-disabled', '/v1/conversations/c/tool-loading/compression'])('let no member pass where no body is taken: %s', async (path) => {
    await tenant.caller.send('put', '/v1/conversations/c/tool-loading', { agentId: 'm' });
    const revision = (await tenant.caller.get('/v1/agents/m')).headers['etag'];
    for (const body of ['{"dryRun":true}', '{"__proto__":{}}', '[]', 'null']) expect([body, (await tenant.caller.post(path, body)).body]).toMatchObject([body, { status: 422, code: 'INVALID_REQUEST' }]);
    expect((await tenant.caller.get('/v1/agents/m')).headers['etag']).toBe(revision);
    for (const body of [undefined, {}]) expect((await tenant.caller.post(path, body)).status).toBe(200);
  });

  it.each(['/v1/tools?limit=0', '/v1/tools?limit=501', '/v1/tools?limit=many', '/v1/tools?colour=red', '/v1/tools?core=yes', '/v1/tools?cursor=xyz', '/v1/tools?search=a&search=b', '/v1/agents?cursor=WzFd', '/v1/keys?limit=-1'])('tell a wrong query: %s', async (path) => {
    expect((await tenant.caller.get(path)).body).toMatchObject({ status: 400, code: 'INVALID_QUERY' });
  });

  it('keep ids that no URL was meant for apart', async () => {
    for (const agentId of ['代理 🤖', '__proto__', 'a/b', '..', 'a%2Fb', '"quoted"']) {
      const path = `/v1/agents/${encodeURIComponent(agentId)}`;
      expect((await tenant.caller.send('put', path, { displayName: agentId })).body).toMatchObject({ agentId, displayName: agentId });
      expect((await tenant.caller.post('/v1/decide', { agentId })).body.agentId).toBe(agentId);
      expect((await tenant.caller.send('delete', path)).status).toBe(204);
    }
    for (const agentId of [' ', 'a\u0001b', 'x'.repeat(129)]) expect((await tenant.caller.send('put', `/v1/agents/${encodeURIComponent(agentId)}`, {})).status).toBe(422);
    expect((await tenant.caller.send('put', '/v1/agents/one', { agentId: 'two' })).body).toMatchObject({ status: 422, errors: [{ path: '/agentId' }] });
    expect((await tenant.caller.send('put', '/v1/agents/one', { agentId: null })).body).toMatchObject({ agentId: 'one' });
    expect((await tenant.caller.send('delete', '/v1/agents/one')).status).toBe(204);
  });

  it('never carry a stack or a library’s words, and what is logged holds no arguments', async () => {
    await tenant.caller.post('/v1/check', { agentId: 'm', toolName: 'read_file', arguments: { password: 'hunter2' } });
    expect(service.logged.join('')).not.toContain('hunter2');
  });

  it('are counted, and decisions are timed by tenant and outcome', async () => {
    await tenant.caller.post('/v1/decide', { agentId: 'm' });
    await tenant.caller.post('/v1/decide', { agentId: 'm' });
    const { text, status } = await tenant.caller.get('/metrics');
    expect(status).toBe(200);
    expect(text).toMatch(new RegExp(`toolcrib_decide_duration_seconds_count\\{tenant="${tenant.tenantId}",outcome="ok"\\} [1-9]`, 'u'));
    expect(text).toMatch(new RegExp(`toolcrib_decide_duration_seconds_count\\{tenant="${tenant.tenantId}",outcome="AGENT_NOT_FOUND"\\} 1`, 'u'));
    expect(text).toMatch(/toolcrib_http_requests_total\{method="POST",route="\/v1\/decide",status="404"\} 1/u);
  });
});
