import { INCLUDES, VIEWS } from '../core/request.js';
import type { Limits } from '../platform/config/config.js';
import type { RequestSchema } from '../policy/request.schema.js';
import { agentId, contextSchema, minRevision, names, nullable } from '../policy/request.schema.js';

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
