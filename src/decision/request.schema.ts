import { FORMATS } from '../core/formats/format.js';
import { INCLUDES, SEARCH_LIMIT, VIEWS } from '../core/request.js';
import { EXPOSURES } from '../core/settings.js';
import type { Limits } from '../platform/config/config.js';
import type { RequestSchema } from '../policy/request.schema.js';
import { agentId, contextSchema, minRevision, names, nullable } from '../policy/request.schema.js';

/** What decide, check and search say alike of the turn and its conversation. */
const turn = (limits: Limits): Readonly<Record<string, RequestSchema>> => ({
  agentId,
  context: contextSchema(limits),
  conversationId: nullable('string', { description: 'the conversation of this turn; one without a snapshot counts as none', example: null }),
  toolLoading: { description: 'the state of a conversation that the runtime holds itself, as in its metadata (`enabled`, `deferred_set`, `initial_exposed`, `loaded`); whatever is damaged in it defers nothing', example: null },
  exposure: { enum: [...EXPOSURES, null], description: 'how tools are offered: `all` at once; `deferred` without those that are still to be loaded; `search` with those alone that are listed, loaded or found. Absent: `deferred` with a snapshot or `toolLoading`, else the tenant’s setting', example: null },
  discovered: names(limits, { description: 'found by searches before; not with `conversationId`, which keeps its own', example: null }),
  format: { enum: [...FORMATS, null], description: 'how definitions are written, and whose limit holds; absent = `{name, description, inputSchema}` and no limit', example: null },
  minRevision,
});

/**
 * A body of a turn as the document shows it: with the rule between members that the reader tells in its own words. A conversation
 * keeps its own state, so none stands beside it.
 */
export const published = (schema: RequestSchema): RequestSchema => ({
  ...schema,
  if: { required: ['conversationId'], properties: { conversationId: { type: 'string' } } },
  then: { properties: { toolLoading: { type: 'null' }, discovered: { type: 'null' } } },
});

export const decideSchema = (limits: Limits): RequestSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['agentId'],
  example: { agentId: 'researcher', context: { scene: 'chat' }, include: ['tools', 'reasons', 'routes'] },
  properties: {
    ...turn(limits),
    view: { enum: [...VIEWS, null], description: '`intent` keeps what takes part in intent recognition', example: 'all' },
    select: names(limits, { description: 'narrows to these names; `[]` to none', example: null }),
    include: nullable('array', { items: { enum: INCLUDES }, description: 'parts of the answer; absent = all but diagnostics and definitions', example: ['tools', 'reasons', 'routes'] }),
    nativeDeferral: nullable('boolean', { description: 'with `anthropic` and `openai-responses`: give the provider every definition, the searchable ones marked `defer_loading`, and its own search instead of the loaders', example: null }),
  },
});

/** The body of decide where the path names the agent, and what the call takes besides. */
const ofPathAgent = (limits: Limits, example: RequestSchema, more: Readonly<Record<string, RequestSchema>>): RequestSchema => {
  const { agentId: _, ...rest } = decideSchema(limits)['properties'] as Readonly<Record<string, RequestSchema>>;
  return { type: 'object', additionalProperties: false, example, properties: { ...rest, ...more } };
};

/** How the document describes the drafts of a preview; their shape is that of saving, which checks them by itself. */
export type DraftSchemas = Readonly<Record<'draft' | 'draftAgentTools' | 'draftToolOverride', RequestSchema>>;

export const previewSchema = (limits: Limits, drafts: DraftSchemas): RequestSchema =>
  ofPathAgent(limits, { draftAgentTools: { enabled: ['web_search'], disabled: ['write_file'] }, context: { scene: 'chat' } }, drafts);

export const explainSchema = (limits: Limits): RequestSchema => ofPathAgent(limits, { context: { scene: 'chat', session: { allowShell: false } } }, {});

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
    ...turn(limits),
    toolName: { type: 'string', description: 'the exact name of the tool, or the loader, that is about to be called', example: 'mysql_query' },
    arguments: { description: 'the arguments of the call, judged by the tool’s own schema; absent = only the permission is asked', example: { sql: 'select 1' } },
  },
});

export const searchSchema = (limits: Limits): RequestSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['agentId', 'query'],
  example: { agentId: 'researcher', query: 'run a database query' },
  properties: {
    ...turn(limits),
    query: { type: 'string', pattern: '\\S', description: 'what is looked for, in English or Chinese; an exact name comes first', example: 'run a database query' },
    limit: nullable('integer', { minimum: 1, maximum: SEARCH_LIMIT.max, description: `how many results: ${SEARCH_LIMIT.default} when absent`, example: SEARCH_LIMIT.default }),
  },
});
