import type { Ids } from './operations.js';
import type { Answer, Served, TestTenant } from './test-service.js';
import { newTenant, platform } from './test-service.js';

export interface PopulatedTenant extends TestTenant {
  readonly ids: Ids;
}

async function done(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering;
  if (answer.status >= 300) throw new Error(answer.text);
  return answer;
}

/** The names of what a tenant with this mark has, but for what the service names itself. */
export const idsWith = (mark: string): Omit<Ids, 'keyId' | 'revision'> => ({
  tenantId: `tenant-${mark}`, agentId: `agent-${mark}`, tool: `tool-${mark}`, goneTool: `gone-${mark}`, conversationId: `conversation-${mark}`, source: `source-${mark}`,
});

/** A tenant that has a thing of each kind. `mark` stands in the name of each, `planted` in everything else that it holds. */
export async function populatedTenant(service: Served, mark: string, planted: string, tenantId = `tenant-${mark}`): Promise<PopulatedTenant> {
  const names = { ...idsWith(mark), tenantId };
  const { agentId, tool, goneTool, conversationId, source } = names;
  const tenant = await newTenant(service, tenantId);
  const { caller } = tenant;
  const declared = {
    name: tool, description: `says ${planted}`, label: planted, keywords: [planted], isCore: true, supportsPromptHint: true, promptHint: planted, loadingCategory: `category-${mark}`, toolset: `toolset-${mark}`,
    inputSchema: { type: 'object', properties: { q: { type: 'string', description: planted } } }, annotations: { planted },
  };
  const categories = [{ key: `category-${mark}`, label: planted, whenToUse: planted }];
  await done(caller.post('/v1/tools/sync', { source, categories, tools: [declared, { name: goneTool, description: planted }] }));
  await done(caller.post('/v1/tools/sync', { source, categories, tools: [declared], confirmRemovals: true }));
  await done(caller.write('patch', '/v1/settings', { maxSubagentDepth: 1 }));
  await done(caller.write('patch', `/v1/tools/${tool}`, { description: planted, extra: { planted } }));
  await done(caller.send('put', `/v1/agents/${agentId}`, { displayName: planted, toolOverrides: { [tool]: { promptHint: planted } }, skills: [{ name: planted, entry: 'compute' }] }));
  await done(caller.send('put', `/v1/conversations/${conversationId}/tool-loading`, { agentId }));
  const { body: key } = await done(platform(service, tenantId).post('/v1/keys', { name: planted, scopes: ['decide'] }));
  const { headers } = await done(caller.write('patch', `/v1/agents/${agentId}`, { tools: { disabled: [`closed-${mark}`] } }));
  return { ...tenant, ids: { ...names, keyId: key.keyId, revision: String(headers['x-toolcrib-revision']) } };
}
