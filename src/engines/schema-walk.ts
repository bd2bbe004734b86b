import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import { pointedAt, subschemas } from '../core/schema-walk.js';

interface Placed {
  readonly schema: JsonObject;
  /** What its relative references are relative to: the nearest `$id` around it. */
  readonly base: string;
}

const BASE = 'schema:/document';

/** Every schema of the document, those that only a pointer makes one included. */
function placedSchemas(root: JsonObject): Placed[] {
  const found: Placed[] = [];
  const seen = new Set<JsonObject>();
  const queue: Placed[] = [{ schema: root, base: BASE }];
  for (const { schema, base: around } of queue) {
    if (seen.has(schema)) continue;
    seen.add(schema);
    const base = typeof schema['$id'] === 'string' ? resolve(schema['$id'], around) : around;
    found.push({ schema, base });
    const target = typeof schema['$ref'] === 'string' ? pointedAt(root, schema['$ref']) : undefined;
    for (const inner of subschemas(schema)) queue.push({ schema: inner, base });
    if (isObject(target)) queue.push({ schema: target, base });
  }
  return found;
}

/** The first reference to something that is not in the document, or null. References are resolved as text alone. */
export function outsideReference(root: JsonObject): string | null {
  const placed = placedSchemas(root);
  const inside = new Set([BASE, ...placed.map(({ base }) => base)].map(withoutFragment));
  for (const { schema, base } of placed) {
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = schema[keyword];
      if (typeof reference === 'string' && !reference.startsWith('#') && !inside.has(withoutFragment(resolve(reference, base)))) return reference;
    }
  }
  return null;
}

const resolve = (reference: string, base: string): string => (URL.canParse(reference, base) ? new URL(reference, base).href : `unresolved:${reference}`);

const withoutFragment = (uri: string): string => uri.replace(/#.*$/su, '');
