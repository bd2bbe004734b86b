import { isObject } from '../../src/core/json.js';
import { INCLUDES } from '../../src/core/request.js';
import type { Json } from './test-service.js';

export const PLAIN = { agentId: 'm', include: INCLUDES };
export const turn = (context: Json): Json => ({ ...PLAIN, context });
const session = (more: Json): Json => turn({ session: { cwd: '/w/p', workspaceRoots: ['/w'], allowShell: true, readonly: false, allowNetwork: true, ...more } });

/** For each input of a decide request, two requests that differ in it alone. Only `minRevision` changes no answer. */
export const PAIRS: Readonly<Record<string, readonly [Json, Json]>> = {
  agentId: [PLAIN, { ...PLAIN, agentId: 'n' }],
  context: [PLAIN, turn({ scene: 'chat', model: { capabilities: ['vision'] } })],
  'context.scene': [turn({ scene: 'chat' }), turn({ scene: 'crew' })],
  'context.model': [PLAIN, turn({ model: { capabilities: ['multimodal'] } })],
  'context.model.capabilities': [turn({ model: { capabilities: ['vision'] } }), turn({ model: { capabilities: ['text'] } })],
  'context.session': [PLAIN, session({ readonly: true })],
  'context.session.cwd': [session({}), session({ cwd: '/elsewhere' })],
  'context.session.workspaceRoots': [session({}), session({ workspaceRoots: ['/other'] })],
  'context.session.allowShell': [session({}), session({ allowShell: false })],
  'context.session.readonly': [session({}), session({ readonly: true })],
  'context.session.allowNetwork': [session({}), session({ allowNetwork: false })],
  'context.subagent': [PLAIN, turn({ subagent: { parentAgentId: 'lead', depth: 1 } })],
  'context.subagent.parentAgentId': [turn({ subagent: { parentAgentId: 'lead', depth: 1 } }), turn({ subagent: { parentAgentId: 'n', depth: 1 } })],
  'context.subagent.depth': [turn({ subagent: { parentAgentId: 'lead', depth: 1 } }), turn({ subagent: { parentAgentId: 'lead', depth: 2 } })],
  'context.operations': [turn({ operations: 'local' }), turn({ operations: 'mock' })],
  'context.attributes': [turn({ attributes: { on: true } }), turn({ attributes: { on: false } })],
  conversationId: [PLAIN, { ...PLAIN, conversationId: 'c' }],
  toolLoading: [PLAIN, { ...PLAIN, toolLoading: { enabled: true, deferred_set: ['later'], loaded: [] } }],
  exposure: [{ ...PLAIN, exposure: 'all' }, { ...PLAIN, exposure: 'search' }],
  discovered: [{ ...PLAIN, exposure: 'search' }, { ...PLAIN, exposure: 'search', discovered: ['later'] }],
  format: [{ ...PLAIN, format: 'anthropic' }, { ...PLAIN, format: 'openai-responses' }],
  minRevision: [PLAIN, { ...PLAIN, minRevision: 0 }],
  view: [PLAIN, { ...PLAIN, view: 'intent' }],
  select: [{ ...PLAIN, select: ['seen'] }, { ...PLAIN, select: ['seen', 'nowhere'] }],
  include: [PLAIN, { ...PLAIN, include: ['tools'] }],
  nativeDeferral: [{ ...PLAIN, format: 'anthropic', exposure: 'search' }, { ...PLAIN, format: 'anthropic', exposure: 'search', nativeDeferral: true }],
};

/** The paths of everything that a request may hold. */
export function pathsIn(schema: Json, at = ''): string[] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).flatMap(([name, member]) => [`${at}${name}`, ...pathsIn(member as Json, `${at}${name}.`)]);
}
