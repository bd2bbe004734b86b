/** The envelope: one request for a name and its input, for runtimes that let a model write JSON instead of calling functions. */
import type { ToolDefinition } from '../definition.js';
import type { JsonObject } from '../json.js';
import type { Aliases } from './aliases.js';
import { isNamedInside, referencesIn } from './repair-references.js';
import { onceEach, schemaFor } from './repair-schema.js';

const DESCRIPTION = 'Requests one tool: its name, and an input that fits what is said of that tool.';

/** One definition over what is offered; none at all where nothing is. Names are the aliases, as in every format. */
export function envelopeOf(offered: readonly ToolDefinition[], aliases: Aliases): ToolDefinition[] {
  const requests = offered.flatMap(({ name, description, inputSchema }) => {
    const schema = schemaFor('envelope', inputSchema);
    return schema === null ? [] : [{ name: aliases.aliasOf(name), description, schema }];
  });
  if (requests.length === 0) return [];
  const anyOf = requests.map(({ name, description, schema }) => ({ description, properties: { name: { const: name }, input: nested(schema, name) } }));
  const properties = { name: { type: 'string', enum: requests.map(({ name }) => name) }, input: { type: 'object' } };
  return [{ name: 'tool_request', description: DESCRIPTION, inputSchema: { type: 'object', properties, required: ['name', 'input'], additionalProperties: false, anyOf } }];
}

/** With an identifier of its own, the references of a schema stay inside it wherever it stands. */
function nested(schema: JsonObject, name: string): JsonObject {
  const { $schema: _dialect, ...rest } = schema;
  return Object.hasOwn(rest, '$id') || !refersToItself(schema) ? rest : { $id: `tool:/${name}`, ...rest };
}

const refersToItself = onceEach<boolean>((schema) => referencesIn(schema).length > 0 || isNamedInside(schema));
