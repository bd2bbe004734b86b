import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DATABASES } from '../support/databases.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { newTenant, startTestService } from '../support/test-service.js';

/** Everything that the database holds but when things were used. */
async function rowsOf({ database }: TestService): Promise<string> {
  const { rows: tables } = await database.pool.query("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1");
  const contents: unknown[] = [];
  for (const { table_name: table } of tables) contents.push([table, (await database.pool.query(`SELECT * FROM "${String(table)}" ORDER BY 1, 2`)).rows]);
  return JSON.stringify(contents);
}

describe.each(DATABASES)('questions about what would be, $name', (kind) => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    service = await startTestService(kind);
    tenant = await newTenant(service);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'read_file', description: 'd', isCore: true }, { name: 'web/search', description: 'd' }, { name: 'hidden', description: 'd', visibility: 'internal' }] });
    await tenant.caller.send('put', '/v1/agents/m', {});
  });
  afterAll(() => service.close());

  it('write nothing and bump nothing', async () => {
    const before = await rowsOf(service);
    const preview = await tenant.caller.post('/v1/agents/m/preview', { draftAgentTools: { enabled: ['web/search'] } });
    expect(preview).toMatchObject({ status: 200, body: { revision: 2, toolNames: ['read_file', 'web/search'], diff: { added: ['web/search'], removed: [] } }, headers: { 'x-toolcrib-revision': '2' } });
    expect((await tenant.caller.post('/v1/agents/nobody/preview', { draft: { displayName: 'Nobody' } })).status).toBe(200);
    expect((await tenant.caller.post('/v1/agents/m/tools/read_file/explain', {})).body).toMatchObject({ revision: 2, verdict: { allowed: true, code: 'OK' } });
    const impact = await tenant.caller.post('/v1/tools/web%2Fsearch/impact', { patch: { isCore: true } });
    expect(impact).toMatchObject({ status: 200, body: { revision: 2, counts: { agents: 1, gained: 1, lost: 0 } }, headers: { 'x-toolcrib-revision': '2' } });
    expect((await tenant.caller.post('/v1/settings/impact', { patch: { maxSubagentDepth: 0 } })).status).toBe(200);
    expect(await rowsOf(service)).toBe(before);
    expect((await tenant.caller.post('/v1/decide', { agentId: 'm' })).body).toMatchObject({ revision: 2, toolNames: ['read_file'] });
  });

  it('are never answered from what decide remembers, nor remembered for it', async () => {
    const decided = await tenant.caller.post('/v1/decide', { agentId: 'm', select: null });
    const previews = [await tenant.caller.post('/v1/agents/m/preview', { draft: { tools: { disabled: ['read_file'] } } }), await tenant.caller.post('/v1/agents/m/preview', {})];
    expect(previews.map(({ body }) => body.toolNames)).toEqual([[], ['read_file']]);
    expect((await tenant.caller.post('/v1/decide', { agentId: 'm', select: null })).text).toBe(decided.text);
  });

  it('explain tools of any name, internal ones too, in the language of the caller', async () => {
    const slashed = await tenant.caller.post('/v1/agents/m/tools/web%2Fsearch/explain', {}, { 'accept-language': 'zh' });
    expect(slashed).toMatchObject({ status: 200, body: { toolName: 'web/search', verdict: { code: 'NOT_ENABLED', message: '该工具未对当前 Agent 启用' } }, headers: { 'x-toolcrib-revision': '2' } });
    const internal = await tenant.caller.post('/v1/agents/m/tools/hidden/explain', {});
    expect(internal.body).toMatchObject({ verdict: { code: 'UNKNOWN_TOOL' }, trail: [{ stage: 'registered', result: 'refused', code: 'INTERNAL_TOOL' }, {}, {}, {}, {}, {}, {}, {}, {}, {}] });
    expect((await tenant.caller.post('/v1/agents/m/tools/nope/explain', {})).body).toMatchObject({ status: 404, code: 'TOOL_NOT_FOUND' });
    expect((await tenant.caller.post('/v1/agents/nope/tools/read_file/explain', {})).body).toMatchObject({ status: 404, code: 'AGENT_NOT_FOUND' });
    expect((await tenant.caller.post('/v1/agents/m/tools/read_file/explain', { agentId: 'm' })).status).toBe(422);
  });

  it('take a patch as PATCH does, and place what is wrong in it', async () => {
    expect((await tenant.caller.post('/v1/tools/read_file/impact', {})).body).toMatchObject({ status: 422, errors: [{ path: '/patch' }] });
    expect((await tenant.caller.post('/v1/tools/read_file/impact', { patch: { statuss: null } })).body).toMatchObject({ status: 422, errors: [{ path: '/patch/statuss' }] });
    expect((await tenant.caller.post('/v1/settings/impact', { patch: {}, contexts: [{}, { scenes: [] }] })).body).toMatchObject({ status: 422, errors: [{ path: '/contexts/1/scenes' }] });
    expect((await tenant.caller.post('/v1/tools/nope/impact', { patch: {} })).body).toMatchObject({ status: 404, code: 'TOOL_NOT_FOUND' });
  });

  it('follow the faults and the language of decide', async () => {
    expect((await tenant.caller.post('/v1/agents/m/preview', { agentId: 'm' })).body).toMatchObject({ status: 422, errors: [{ path: '/agentId' }] });
    expect((await tenant.caller.post('/v1/agents/m/preview', { draft: { tools: { enable: [] } } })).body).toMatchObject({ status: 422, errors: [{ path: '/draft/tools/enable' }] });
    expect((await tenant.caller.post(`/v1/agents/${'x'.repeat(129)}/preview`, {})).body).toMatchObject({ status: 422 });
    const closed = await tenant.caller.post('/v1/agents/m/preview', { draftAgentTools: { disabled: ['read_file'] } }, { 'accept-language': 'zh' });
    expect(closed.body.disabledReasons.read_file.message).toBe('该工具已为当前 Agent 关闭');
  });
});
