/** JSON Schemas as trees: what stands in a schema, and where a reference leads. */
import { isObject } from './json.js';
import type { JsonObject } from './json.js';

const ONE_SCHEMA = [
  'items', 'additionalItems', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else', 'contentSchema',
];
const LISTS_OF_SCHEMAS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
export const MAPS_OF_SCHEMAS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

/** What stands directly inside a schema where it has schemas: mostly such, `true` and `false` too. What stands in `enum`, `const` or `default` is data. */
export function innerParts(schema: JsonObject): unknown[] {
  const lists = LISTS_OF_SCHEMAS.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : []));
  const maps = MAPS_OF_SCHEMAS.flatMap((key) => (isObject(schema[key]) ? Object.values(schema[key]) : []));
  return [...ONE_SCHEMA.filter((key) => Object.hasOwn(schema, key)).map((key) => schema[key]), ...lists, ...maps];
}

/** The schemas directly inside one that are objects. */
export const subschemas = (schema: JsonObject): JsonObject[] => innerParts(schema).filter(isObject);

/** What a JSON Pointer such as `#/$defs/a` points at; undefined for any other reference, and where nothing is. */
export function pointedAt(root: JsonObject, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = unescapePointer(part);
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function unescapePointer(part: string): string {
  const unescaped = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(unescaped);
  } catch {
    return unescaped;
  }
}

/** The same schema with each of its schemas put through `change`, innermost first. What is data stays as it is. */
export function mapSchemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const inner = (value: unknown): unknown => (isObject(value) ? mapSchemas(value, change) : value);
  const member = (key: string, value: unknown): unknown => {
    if (MAPS_OF_SCHEMAS.includes(key) && isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]));
    if (LISTS_OF_SCHEMAS.includes(key) && Array.isArray(value)) return value.map(inner);
    return ONE_SCHEMA.includes(key) ? inner(value) : value;
  };
  return change(Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, member(key, value)])));
}

/** Values in a piece of JSON, itself included. */
export function nodesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let nodes = 1;
  for (const part of Object.values(value)) nodes += nodesIn(part);
  return nodes;
}
