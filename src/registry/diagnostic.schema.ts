import type { Limits } from '../platform/config/config.js';
import type { RequestSchema } from '../policy/request.schema.js';
import { names, sessionSchema, subagentSchema } from '../policy/request.schema.js';

export const diagnosticSchema = (limits: Limits): RequestSchema => ({
  type: 'object',
  additionalProperties: false,
  example: { session: { cwd: '/w/project', workspaceRoots: ['/w'], allowShell: false, readonly: true } },
  properties: {
    session: sessionSchema(limits),
    subagent: { ...subagentSchema, description: 'for a sub-agent: has no part in where a tool runs' },
    toolNames: names(limits, { description: 'only these, as far as they are known; absent = all', example: ['web_search'] }),
  },
});
