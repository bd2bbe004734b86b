import { FORMATS } from '../core/formats/format.js';
import type { Limits } from '../platform/config/config.js';
import type { RequestSchema } from '../policy/request.schema.js';
import { agentId, contextSchema, names, nullable } from '../policy/request.schema.js';

export const createSchema = (limits: Limits): RequestSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['agentId'],
  example: { agentId: 'researcher', context: { scene: 'chat' }, preferences: { toolLoadingEnabled: true, toolLoadingDeferred: ['list_workflows', 'update_memory'] } },
  properties: {
    agentId,
    context: contextSchema(limits),
    preferences: {
      description: 'the user’s own, free-form: `toolLoadingEnabled` (absent = true, and nothing but true counts), `toolLoadingDeferred` (the names that may be deferred; absent or malformed = all, `[]` = none)',
      example: { toolLoadingEnabled: true, toolLoadingDeferred: ['list_workflows'] },
    },
    multiAgentMode: nullable('boolean', { description: 'true defers nothing for the life of the conversation', example: false }),
    builtToolNames: names(limits, { description: 'what the runtime built at once; absent = what is decided for the context', example: null }),
  },
});

export const loadSchema = (limits: Limits): RequestSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['toolNames'],
  example: { toolNames: ['list_workflows'] },
  properties: {
    toolNames: { type: 'array', minItems: 1, maxItems: limits.listLength, items: { type: 'string', pattern: '\\S' }, description: 'the names to load; each is answered for', example: ['list_workflows'] },
    context: contextSchema(limits),
    format: { enum: [...FORMATS, null], description: 'how the definitions are written, and whose aliases are taken; absent = `{name, description, inputSchema}`', example: null },
  },
});
