import { INCLUDES, VIEWS } from '../core/request.js';
import type { Limits } from '../platform/config/config.js';

/**
 * The bodies of decide, batch and check as JSON Schema (draft 2020-12): the document publishes them with the default limits,
 * the hot path checks by them, compiled with the configured ones. In a context null means absent.
 */
export type RequestSchema = Readonly<Record<string, unknown>>;

const nullable = (type: string, more: RequestSchema): RequestSchema => ({ type: [type, 'null'], ...more });

const names = (limits: Limits, more: RequestSchema): RequestSchema => nullable('array', { items: { type: 'string' }, maxItems: limits.listLength, ...more });

const sessionSchema = (limits: Limits): RequestSchema => nullable('object', {
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

const subagentSchema: RequestSchema = nullable('object', {
  description: 'for a sub-agent: who started it, and how deep it is; absent = a main agent',
  additionalProperties: false,
  required: ['parentAgentId', 'depth'],
  properties: {
    parentAgentId: { type: 'string', description: 'the agent that started it', example: 'lead' },
    depth: { type: 'integer', minimum: 1, maximum: 64, description: '1 for a child of the main agent', example: 1 },
  },
});

const contextSchema = (limits: Limits): RequestSchema => nullable('object', {
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

const agentId: RequestSchema = { type: 'string', description: 'the agent that is decided for', example: 'researcher' };
const minRevision: RequestSchema = nullable('integer', { minimum: 0, description: 'never answer from an older revision', example: null });

export const decideSchema = (limits: Limits): RequestSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['agentId'],
  example: { agentId: 'researcher', context: { scene: 'chat' }, include: ['tools', 'reasons', 'routes'] },
  properties: {
    agentId,
    context: contextSchema(limits),
    exposure: { enum: ['all', null], description: 'how tools are offered; this version knows `all`: every one at once', example: 'all' },
    view: { enum: [...VIEWS, null], description: '`intent` keeps what takes part in intent recognition', example: 'all' },
    select: names(limits, { description: 'narrows to these names; `[]` to none', example: null }),
    include: nullable('array', { items: { enum: INCLUDES }, description: 'parts of the answer; absent = all but diagnostics and definitions', example: ['tools', 'reasons', 'routes'] }),
    minRevision,
  },
});

/** Each request is checked by itself, so that a wrong one is answered in its place. */
export const batchSchema = (limits: Limits): RequestSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['requests'],
  example: { requests: [{ agentId: 'researcher' }, { agentId: 'researcher', context: { scene: 'crew' } }] },
  properties: {
    requests: { type: 'array', maxItems: limits.batchSize, items: { type: 'object' }, description: `at most ${limits.batchSize} decide requests`, example: [{ agentId: 'researcher' }] },
  },
});

export const checkSchema = (limits: Limits): RequestSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['agentId', 'toolName'],
  example: { agentId: 'researcher', toolName: 'web_search', arguments: { query: 'tool policy' } },
  properties: {
    agentId,
    toolName: { type: 'string', description: 'the exact name of the tool that is about to be called', example: 'mysql_query' },
    arguments: { description: 'the arguments of the call, judged by the tool’s own schema; absent = only the permission is asked', example: { sql: 'select 1' } },
    context: contextSchema(limits),
    exposure: { enum: ['all', null], description: 'as in decide', example: 'all' },
    minRevision,
  },
});
