import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';

const ONE_SCHEMA = [
  'items', 'additionalItems', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else', 'contentSchema',
];
const LISTS_OF_SCHEMAS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const MAPS_OF_SCHEMAS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

const isSchema = (value: unknown): value is JsonObject => isObject(value);

/** The schemas directly inside one: what stands in `enum`, `const` or `default` is data and none of them. */
function subschemas(schema: JsonObject): JsonObject[] {
  const lists = LISTS_OF_SCHEMAS.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : []));
  const maps = MAPS_OF_SCHEMAS.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : []));
  return [...ONE_SCHEMA.map((key) => schema[key]), ...lists, ...maps].filter(isSchema);
}

function everySchema(root: JsonObject): JsonObject[] {
  const found = [root];
  for (const schema of found) found.push(...subschemas(schema));
  return found;
}

const BASE = 'schema:/document';

/** The first reference to something that is not in the document, or null. References are resolved as text alone. */
export function outsideReference(root: JsonObject): string | null {
  const schemas = everySchema(root);
  const base = resolve(root['$id'], BASE);
  const inside = new Set([BASE, base, ...schemas.map(({ $id }) => resolve($id, base))].map(withoutFragment));
  for (const schema of schemas) {
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = schema[keyword];
      if (typeof reference === 'string' && !reference.startsWith('#') && !inside.has(withoutFragment(resolve(reference, base)))) return reference;
    }
  }
  return null;
}

function resolve(reference: unknown, base: string): string {
  if (typeof reference !== 'string') return base;
  return URL.canParse(reference, base) ? new URL(reference, base).href : `unresolved:${reference}`;
}

const withoutFragment = (uri: string): string => uri.replace(/#.*$/su, '');

/** Keywords whose work is not bounded by the sizes of schema and value: recursion, backtracking, pairs of items. */
const RUNAWAY = ['$ref', '$dynamicRef', 'pattern', 'patternProperties', 'uniqueItems'];

export const hasRunawayKeyword = (root: JsonObject): boolean => everySchema(root).some((schema) => RUNAWAY.some((keyword) => Object.hasOwn(schema, keyword)));

/** Values in a piece of JSON, itself included. */
export function nodesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let nodes = 1;
  for (const part of Object.values(value)) nodes += nodesIn(part);
  return nodes;
}
