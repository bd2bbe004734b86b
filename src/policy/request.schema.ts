import type { Limits } from '../platform/config/config.js';

/**
 * Bodies that carry the context of a turn, as JSON Schema (draft 2020-12): the document publishes them with the default limits,
 * and requests are checked by them, compiled with the configured ones. In a request null means absent.
 */
export type RequestSchema = Readonly<Record<string, unknown>>;

export const nullable = (type: string, more: RequestSchema): RequestSchema => ({ type: [type, 'null'], ...more });

export const names = (limits: Limits, more: RequestSchema): RequestSchema => nullable('array', { items: { type: 'string' }, maxItems: limits.listLength, ...more });

export const sessionSchema = (limits: Limits): RequestSchema => nullable('object', {
  description: 'what the running session permits; absent = nothing is blocked by a session',
  additionalProperties: false,
  properties: {
    cwd: nullable('string', { description: 'the working directory, absolute', example: '/w/project' }),
    workspaceRoots: names(limits, { description: 'the folders that count as the workspace, absolute', example: ['/w'] }),
    allowShell: nullable('boolean', { description: 'commands may be run only when this is true', example: true }),
    readonly: nullable('boolean', { description: 'true keeps tools from writing files', example: false }),
    allowNetwork: nullable('boolean', { description: 'false keeps tools from the network', example: true }),
  },
});

export const subagentSchema: RequestSchema = nullable('object', {
  description: 'for a sub-agent: who started it, and how deep it is; absent = a main agent',
  additionalProperties: false,
  required: ['parentAgentId', 'depth'],
  properties: {
    parentAgentId: { type: 'string', description: 'the agent that started it', example: 'lead' },
    depth: { type: 'integer', minimum: 1, maximum: 64, description: '1 for a child of the main agent', example: 1 },
  },
});

export const contextSchema = (limits: Limits): RequestSchema => nullable('object', {
  description: 'the turn that is decided for',
  additionalProperties: false,
  properties: {
    scene: nullable('string', { description: 'where the agent is used', example: 'chat' }),
    model: nullable('object', {
      description: 'the model; absent = text only',
      additionalProperties: false,
      properties: { capabilities: names(limits, { description: 'what it takes in', example: ['text', 'vision'] }) },
    }),
    session: sessionSchema(limits),
    subagent: subagentSchema,
    operations: nullable('string', { description: 'the execution backend; reported, never decided on', example: 'local' }),
    attributes: nullable('object', { description: 'free-form; conditions see it', additionalProperties: true, example: { features: { db: true } } }),
  },
});

/** What one question about many agents may ask at once. */
const MAX_CONTEXTS = 10;

export const contextsSchema = (limits: Limits): RequestSchema => nullable('array', {
  items: contextSchema(limits),
  minItems: 1,
  maxItems: MAX_CONTEXTS,
  description: `the turns that are asked about, at most ${MAX_CONTEXTS}; absent = one plain turn of a main agent`,
  example: [{ scene: 'chat' }, { subagent: { parentAgentId: 'lead', depth: 1 } }],
});

export const agentId: RequestSchema = { type: 'string', description: 'the agent that is decided for', example: 'researcher' };
export const minRevision: RequestSchema = nullable('integer', { minimum: 0, description: 'never answer from an older revision', example: null });
