import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import { pointedAt, subschemas } from './schema-walk.js';

/** How much work judging by a schema may be, seen from the schema alone. */
export interface SchemaCost {
  /** Schemas that one value may have to pass, references followed; Infinity for a recursive one. */
  readonly schemas: number;
  /** Whether items are compared with one another. */
  readonly compares: boolean;
  /** Whether a pattern may take more than a pass or two over its text. */
  readonly backtracks: boolean;
}

/** The cost of a value that has this many nodes and characters. Infinity where no bound is known. */
export function workOf({ schemas, compares, backtracks }: SchemaCost, nodes: number, characters: number): number {
  if (backtracks) return Infinity;
  return schemas * (compares ? nodes * nodes : nodes) + characters;
}

export function costOf(root: JsonObject): SchemaCost {
  const cost = { compares: false, backtracks: false };
  const sizes = new Map<JsonObject, number>();
  const sizeOf = (schema: JsonObject): number => {
    const known = sizes.get(schema);
    if (known !== undefined) return known;
    // Met again on the way down: it refers to itself.
    sizes.set(schema, Infinity);
    cost.compares ||= Object.hasOwn(schema, 'uniqueItems');
    cost.backtracks ||= patternsOf(schema).some((pattern) => !isSinglePass(pattern));
    const size = [...subschemas(schema), ...referencesOf(root, schema)].reduce((sum, inner) => sum + sizeOf(inner), 1);
    sizes.set(schema, size);
    return size;
  };
  return { schemas: sizeOf(root), ...cost };
}

/** The schema that a reference leads to. Where that is not to be seen it may be the whole, which has no end then. */
function referencesOf(root: JsonObject, schema: JsonObject): JsonObject[] {
  if (Object.hasOwn(schema, '$dynamicRef')) return [root];
  if (typeof schema['$ref'] !== 'string') return [];
  const target = pointedAt(root, schema['$ref']);
  return isObject(target) ? [target] : [root];
}

const patternsOf = (schema: JsonObject): string[] => [
  ...(typeof schema['pattern'] === 'string' ? [schema['pattern']] : []),
  ...(isObject(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : []),
];

/** A repeated group, a look-around or a back-reference: what makes backtracking costly. */
const COSTLY = /\)(?:[*+]|\{)|\(\?[=!<]|\\[1-9k]/u;
const REPEATS = /[*+]|\{\d*,\d*\}/gu;

/** Anchored at its start, with one repeat at the most and nothing costly: linear in its text. */
function isSinglePass(pattern: string): boolean {
  return pattern.startsWith('^') && !COSTLY.test(pattern) && (pattern.match(REPEATS) ?? []).length <= 1;
}
