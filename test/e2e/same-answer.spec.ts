import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Language } from '../../src/core/reason.js';
import { DecisionService, toldOf } from '../../src/decision/decision.service.js';
import { Grounds } from '../../src/decision/grounds.js';
import { RequestReader } from '../../src/decision/request-reader.js';
import { decideSchema } from '../../src/decision/request.schema.js';
import { DEFAULT_LIMITS } from '../../src/platform/config/config.js';
import { tenantId } from '../../src/platform/tenant-id.js';
import { DATABASES } from '../support/databases.js';
import { PAIRS, PLAIN, pathsIn, turn } from '../support/request-pairs.js';
import type { Json, TestService, TestTenant } from '../support/test-service.js';
import { newTenant, startTestService } from '../support/test-service.js';

const TOOLS = [
  { name: 'seen', description: 'd', isCore: true, intent: { description: 'for intents', when: 'attributes.on == true' } },
  { name: 'chats', description: 'd', isCore: true, scenes: ['chat'] },
  { name: 'looks', description: 'd', isCore: true, capability: 'vision' },
  { name: 'runs', description: 'd', isCore: true, runtime: { shell: true, network: true, filesystem: 'write' } },
  { name: 'reads', description: 'd', isCore: true, runtime: { filesystem: 'read' } },
  { name: 'when', description: 'd', isCore: true, active: 'attributes.on == true' },
  { name: 'top', description: 'd', isCore: true, active: 'depth == 0' },
  { name: 'deep', description: 'd', isCore: true, active: 'depth == 2' },
  { name: 'later', description: 'd', isCore: true, loadingCategory: 'k', promptHint: 'mind this', supportsPromptHint: true },
  { name: 'odd/name', description: 'd', isCore: true },
];

describe('what is answered from memory', () => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    const [kind] = DATABASES;
    if (kind === undefined) throw new Error('no database');
    service = await startTestService(kind);
    tenant = await newTenant(service);
    await tenant.caller.post('/v1/tools/sync', { source: 's', categories: [{ key: 'k', label: 'K', whenToUse: 'now' }], tools: TOOLS });
    await tenant.caller.send('put', '/v1/agents/m', {});
    await tenant.caller.send('put', '/v1/agents/n', { tools: { disabled: ['seen'] } });
    await tenant.caller.send('put', '/v1/agents/lead', { subagentConfig: { enabled: true, allowedPresetAgentIds: ['m'] } });
    await tenant.caller.send('put', '/v1/conversations/c/tool-loading', { agentId: 'm' });
  });
  afterAll(() => service.close());

  /** The same question worked out anew from the database, by nothing that remembers an answer. */
  async function workedOut(body: Json, language: Language): Promise<string> {
    const of = tenantId(tenant.tenantId);
    if (of === null) throw new Error('no tenant');
    const input = service.app.get(RequestReader).readDecide(body);
    const ground = await service.app.get(Grounds).readAnew(of, input);
    return JSON.stringify(toldOf(service.app.get(DecisionService).decideFrom(ground, input, language)));
  }

  /** By ETag, what it stood for. */
  const stoodFor = new Map<string, string>();

  /** Asks until every memory has it, and holds each answer against the one worked out anew. */
  async function ask(body: Json, language: Language = 'en'): Promise<string> {
    const expected = await workedOut(body, language);
    for (const time of ['first', 'second', 'third']) {
      const { status, text, headers } = await tenant.caller.post('/v1/decide', body, { 'accept-language': language });
      expect({ time, status, text }).toEqual({ time, status: 200, text: expected });
      const etag = headers['etag'] ?? '';
      expect(stoodFor.get(etag) ?? text).toBe(text);
      stoodFor.set(etag, text);
      expect((await tenant.caller.post('/v1/decide', body, { 'accept-language': language, 'if-none-match': etag })).status).toBe(304);
    }
    return expected;
  }

  it('has a pair of requests for every member of a request', () => {
    expect(Object.keys(PAIRS).sort()).toEqual(pathsIn(decideSchema(DEFAULT_LIMITS)).sort());
  });

  it.each(Object.entries(PAIRS))('follows %s', async (path, [one, other]) => {
    const answers = [await ask(one), await ask(other)];
    if (path === 'minRevision') expect(answers[1]).toBe(answers[0]);
    else expect(answers[1]).not.toBe(answers[0]);
    expect(await ask(one)).toBe(answers[0]);
  });

  it('follows the language', async () => {
    const body = { ...PLAIN, select: ['seen'] };
    expect(await ask(body, 'zh')).not.toBe(await ask(body, 'en'));
  });

  it('is that of any two inputs at once', async () => {
    const changed = fc.constantFrom(...Object.values(PAIRS).map(([, other]) => other).filter((other) => !('toolLoading' in other || 'discovered' in other || 'conversationId' in other)));
    const merged = (one: Json, other: Json): Json => ({ ...one, ...other, context: { ...(one['context'] as Json | undefined), ...(other['context'] as Json | undefined) } });
    await fc.assert(fc.asyncProperty(changed, changed, fc.constantFrom<Language>('en', 'zh'), async (one, other, language) => {
      await ask(merged(one, other), language);
    }), { numRuns: 15 });
  });

  const write = (path: string, body: Json) => tenant.caller.write('patch', path, body);
  it.each([
    ['the agent', () => write('/v1/agents/m', { tools: { disabled: ['chats'] } })],
    ['an override of the agent', () => write('/v1/agents/m', { toolOverrides: { seen: { description: 'ours' } } })],
    ['governance', () => write('/v1/tools/reads', { status: 'disabled' })],
    ['a label', () => write('/v1/tools/seen', { label: 'Seen' })],
    ['settings', () => write('/v1/settings', { defaultExposure: 'search' })],
    ['the catalog', () => tenant.caller.post('/v1/tools/sync', { source: 's', categories: [{ key: 'k', label: 'K', whenToUse: 'now' }], tools: [...TOOLS, { name: 'newest', description: 'd', isCore: true }] })],
    ['an agent named in the context', () => write('/v1/agents/lead', { subagentConfig: { allowedToolNames: ['chats'] } })],
  ])('follows a write of %s', async (_what, write) => {
    const questions = [PLAIN, turn({ subagent: { parentAgentId: 'lead', depth: 1 } })];
    const before = [];
    for (const question of questions) before.push(await ask(question));
    expect((await write()).status).toBe(200);
    const after = [];
    for (const question of questions) after.push(await ask(question));
    const withoutRevision = (texts: readonly string[]): string[] => texts.map((text) => text.replace(/"revision":\d+/u, ''));
    expect(withoutRevision(after)).not.toEqual(withoutRevision(before));
  });

  it('follows a load in the conversation', async () => {
    const question = { ...PLAIN, conversationId: 'c' };
    const before = await ask(question);
    await tenant.caller.post('/v1/conversations/c/tool-loading/load', { toolNames: ['later'] });
    expect(await ask(question)).not.toBe(before);
  });
});
