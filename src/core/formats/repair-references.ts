/** References inside a schema whose parts were moved: each leads where it led before. */
import { isObject } from '../json.js';
import type { JsonObject } from '../json.js';
import { mapSchemas, pointedAt, subschemas } from '../schema-walk.js';

const NAMED = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef'];
const STAYING = /^#\/(?:\$defs|definitions)\//u;

/** Whether a schema names its parts by other means than pointers; it can be handed on whole, not taken apart. */
export const isNamedInside = (root: JsonObject): boolean => everySchema(root).some((schema) => NAMED.some((key) => Object.hasOwn(schema, key)));

export const referencesIn = (root: JsonObject): string[] => everySchema(root).flatMap(({ $ref: reference }) => (typeof reference === 'string' ? [reference] : []));

/** `changed` is what became of `root`: where a reference needs the old whole, that stands among the definitions. Null where one leads nowhere. */
export function withReferences(changed: JsonObject, root: JsonObject): JsonObject | null {
  if (referencesIn(changed).every((reference) => STAYING.test(reference) && pointedAt(changed, reference) !== undefined)) return changed;
  const key = freshKey(isObject(root['$defs']) ? root['$defs'] : {});
  const moved = (schema: JsonObject): JsonObject =>
    mapSchemas(schema, (one) => (typeof one['$ref'] === 'string' && one['$ref'].startsWith('#') && !STAYING.test(one['$ref']) ? { ...one, $ref: `#/$defs/${key}${one['$ref'].slice(1)}` } : one));
  const { $defs: _defs, definitions: _definitions, $schema: _schema, ...whole } = root;
  const body = moved(changed);
  const rooted = { ...body, $defs: Object.fromEntries([...Object.entries(isObject(body['$defs']) ? body['$defs'] : {}), [key, moved(whole)]]) };
  return referencesIn(rooted).every((reference) => pointedAt(rooted, reference) !== undefined) ? rooted : null;
}

function freshKey(taken: JsonObject): string {
  let key = 'whole';
  while (Object.hasOwn(taken, key)) key += '_';
  return key;
}

/** Those that only a pointer makes a schema included. */
function everySchema(root: JsonObject): JsonObject[] {
  const found = new Set<JsonObject>();
  const queue = [root];
  for (const schema of queue) {
    if (found.has(schema)) continue;
    found.add(schema);
    const target = typeof schema['$ref'] === 'string' ? pointedAt(root, schema['$ref']) : undefined;
    for (const inner of subschemas(schema)) queue.push(inner);
    if (isObject(target)) queue.push(target);
  }
  return [...found];
}
