import { isObject } from '../../src/core/json.js';
import type { AccessRule } from '../../src/tenancy/access.js';

type Json = Record<string, any>;

/** What requests name: a thing of each kind. */
export interface Ids {
  readonly tenantId: string;
  readonly keyId: string;
  readonly agentId: string;
  readonly tool: string;
  /** A tool that its source declares no longer. */
  readonly goneTool: string;
  readonly conversationId: string;
  readonly source: string;
  /** Of history. */
  readonly revision: string;
}

/** An operation as the document has it. */
export interface Operation {
  /** For instance `GET /v1/agents/{agentId}`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly access: AccessRule | 'public';
  readonly description: string;
  readonly takesIfMatch: boolean;
  /** Null where none is taken. */
  readonly body: Json | null;
}

export interface Filled {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

/** Which of the ids a path parameter or a member of a body stands for. */
const PLACES: Readonly<Record<string, keyof Ids>> = {
  id: 'tenantId', tenantId: 'tenantId', keyId: 'keyId', agentId: 'agentId', parentAgentId: 'agentId', name: 'tool', toolName: 'tool', toolNames: 'tool',
  conversationId: 'conversationId', source: 'source', revision: 'revision', select: 'tool', discovered: 'tool',
};

const CONTEXT = { scene: 'chat', session: { cwd: '/w', workspaceRoots: ['/w'] } };
const QUESTION = { agentId: '', context: CONTEXT };

/** Bodies where the document's own examples are no whole request, or nothing that succeeds twice. */
const BODIES: Readonly<Record<string, Json>> = {
  'POST /v1/tools/sync': { source: '', mode: 'partial', tools: [{ name: 'swept_tool', description: 'd' }] },
  'POST /v1/agents/import': { agents: [{ agentId: '', displayName: 'imported' }] },
  'POST /v1/decide': QUESTION,
  'POST /v1/decide/batch': { requests: [QUESTION] },
  'POST /v1/check': { ...QUESTION, toolName: '', arguments: { q: 'x' } },
  'POST /v1/search': { ...QUESTION, query: 'tool' },
  'POST /v1/agents/{agentId}/preview': { context: CONTEXT, draft: { displayName: 'draft' } },
  'POST /v1/agents/{agentId}/tools/{name}/explain': { context: CONTEXT },
  'PATCH /v1/settings': { maxSubagentDepth: 2 },
  'PATCH /v1/tools/{name}': { label: 'swept' },
  'PUT /v1/agents/{agentId}': { displayName: 'swept' },
  'PATCH /v1/agents/{agentId}': { displayName: 'swept again' },
  'PUT /v1/conversations/{conversationId}/tool-loading': { agentId: '' },
  'POST /v1/conversations/{conversationId}/tool-loading/load': { toolNames: [''] },
  'POST /v1/history/{revision}/revert': { force: true },
};

/** Every operation of the document; one that the suites could not fill is an error. */
export function operationsOf(document: Json): Operation[] {
  return Object.entries<Json>(document['paths']).flatMap(([path, item]) => Object.entries<Json>(item).map(([method, operation]) => {
    const name = `${method.toUpperCase()} ${path}`;
    const parameters = (operation['parameters'] ?? []) as Json[];
    return {
      name, path,
      method: method.toUpperCase(),
      access: operation['x-access'] as Operation['access'],
      description: String(operation['description']),
      takesIfMatch: parameters.some((parameter) => parameter['in'] === 'header' && parameter['name'] === 'If-Match'),
      body: operation['requestBody'] === undefined ? null : BODIES[name] ?? exampleBody(document, operation['requestBody']),
    };
  }));
}

/** The first whole example of a body, else one of the examples of its required members. */
function exampleBody({ components }: Json, requestBody: Json): Json {
  const { schema, examples } = requestBody['content']['application/json'] as Json;
  if (examples !== undefined) return Object.values<Json>(examples)[0]?.['value'] as Json;
  const resolved = (schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)]) as Json;
  return Object.fromEntries(((resolved['required'] ?? []) as string[]).map((member) => [member, resolved['properties'][member].example]));
}

/** The request that names these things. Throws for a parameter that nobody has told what it stands for. */
export function fill({ name, method, path, body }: Operation, ids: Ids, escape: (id: string) => string = encodeURIComponent): Filled {
  const filled = path.replaceAll(/\{([^}]+)\}/gu, (_, parameter: string) => {
    if (parameter === 'action') return 'clear-disabled';
    const kind = PLACES[parameter];
    if (kind === undefined) throw new Error(`${name}: say in \`PLACES\` what \`${parameter}\` stands for`);
    return escape(name === 'DELETE /v1/tools/{name}' ? ids.goneTool : ids[kind]);
  });
  return { method, path: filled, ...(body !== null && { body: JSON.stringify(named(body, ids, name)) }) };
}

function named(value: unknown, ids: Ids, operation: string): unknown {
  if (Array.isArray(value)) return value.map((item) => named(item, ids, operation));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => {
    const kind = PLACES[member];
    // A tool that is declared, and a key that is minted, have names of their own.
    if (kind === undefined || member === 'name' || member === 'id') return [member, named(inner, ids, operation)];
    return [member, Array.isArray(inner) ? [ids[kind]] : ids[kind]];
  }));
}
