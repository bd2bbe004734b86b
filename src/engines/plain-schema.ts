import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import type { Placed } from './schema-document.js';
import { SchemaDocument } from './schema-document.js';
import { MAPS_OF_SCHEMAS } from '../core/schema-walk.js';

/** The engine gives these a meaning that the drafts do not have: OpenAPI's, other drafts', and its own. */
const FOREIGN = new Set(['nullable', '$async', '$schema']);

/**
 * The same schema without what the engine would take otherwise than the draft does. Throws where that can not be had:
 * what can not be judged lets nothing through.
 */
export function plainSchema(root: JsonObject): JsonObject {
  const document = new SchemaDocument(root);
  for (const placed of document.placed) requireJudgeable(placed, document);
  const change = document.isDraft7 ? (schema: JsonObject): JsonObject => withoutForeignKeywords(aloneBesideReference(schema)) : withoutForeignKeywords;
  return mapSchemas(root, new Set(document.placed.map(({ schema }) => schema)), change) as JsonObject;
}

function requireJudgeable({ schema, base }: Placed, document: SchemaDocument): void {
  const { $ref, $dynamicRef, $async } = schema;
  if (namesPrototype(schema)) throw new Error('the engine skips members called `__proto__`');
  if (typeof $async === 'object' && $async !== null) throw new Error('the engine takes it for its own keyword, and it may be referred to');
  if (typeof $ref === 'string' && !isSchema(document.resolve($ref, base))) throw new Error(`nothing is at \`${$ref}\``);
  if ($dynamicRef !== undefined && !document.isDraft7 && !leadsToRoot($dynamicRef, document)) throw new Error('the engine follows dynamic references to the root alone');
}

const isSchema = (value: unknown): boolean => isObject(value) || typeof value === 'boolean';

/** Whether the root is what the reference means, from wherever it is reached: nothing else has a name of its own. */
const leadsToRoot = (reference: unknown, { root, placed }: SchemaDocument): boolean =>
  typeof root['$dynamicAnchor'] === 'string' && reference === `#${root['$dynamicAnchor']}` && placed.every(({ schema }) => schema === root || ['$id', '$anchor', '$dynamicAnchor'].every((name) => schema[name] === undefined));

const namesPrototype = (schema: JsonObject): boolean =>
  ['properties', 'dependentSchemas', 'dependentRequired', 'dependencies', 'patternProperties'].some((key) => isObject(schema[key]) && Object.hasOwn(schema[key], '__proto__'));

/** Only where it is no schema itself, or a map of such, that something may refer to: the keywords themselves are words and switches. */
const withoutForeignKeywords = (schema: JsonObject): JsonObject => Object.fromEntries(Object.entries(schema).filter(([keyword, value]) => !FOREIGN.has(keyword) || isObject(value)));

/** Beside a reference draft-07 knows nothing else. What may be referred to stays; the engine is told to pass it over. */
function aloneBesideReference(schema: JsonObject): JsonObject {
  if (typeof schema['$ref'] !== 'string') return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword, value]) => keyword === '$ref' || (keyword !== 'type' && typeof value === 'object' && value !== null)));
}

const DATA = ['const', 'enum'];

/** The same JSON with each of these schemas put through `change`, innermost first. */
function mapSchemas(value: unknown, schemas: ReadonlySet<JsonObject>, change: (schema: JsonObject) => JsonObject, isData = false): unknown {
  if (Array.isArray(value)) return value.map((one) => mapSchemas(one, schemas, change, isData));
  if (!isObject(value)) return value;
  const isSchemaItself = schemas.has(value);
  if (isSchemaItself && isData) throw new Error('what is data is referred to as a schema');
  const member = (key: string, one: unknown): unknown => {
    if (isSchemaItself && MAPS_OF_SCHEMAS.includes(key) && isObject(one) && schemas.has(one)) throw new Error('a map of schemas is referred to as one');
    return mapSchemas(one, schemas, change, isData || (isSchemaItself && DATA.includes(key)));
  };
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, member(key, one)]));
  return isSchemaItself ? change(copy) : copy;
}
