import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import { innerParts, nodesIn, pointedAt, subschemas } from '../core/schema-walk.js';

/** How much work judging by a schema may be, seen from the schema alone. */
export interface SchemaCost {
  /** Steps that one value may have to go through, references followed; Infinity for a recursive schema. */
  readonly steps: number;
  /** Whether items are compared with one another. */
  readonly compares: boolean;
  /** Whether a pattern may take more than a pass over its text. */
  readonly backtracks: boolean;
  /** The most that stands directly inside one schema. */
  readonly width: number;
}

/** The cost of a value that has this many nodes and characters. Infinity where no bound is known. */
export function workOf({ steps, compares, backtracks }: SchemaCost, nodes: number, characters: number): number {
  return backtracks ? Infinity : steps * ((compares ? nodes * nodes : nodes) + characters);
}

export function costOf(root: JsonObject): SchemaCost {
  const cost = { compares: false, backtracks: false, width: 0 };
  const known = new Map<JsonObject, number>();
  const stepsOf = (schema: JsonObject): number => {
    const before = known.get(schema);
    if (before !== undefined) return before;
    // Met again on the way down: it refers to itself.
    known.set(schema, Infinity);
    cost.width = Math.max(cost.width, innerParts(schema).length);
    cost.compares ||= Object.hasOwn(schema, 'uniqueItems');
    cost.backtracks ||= patternsOf(schema).some((pattern) => !isSinglePass(pattern));
    const steps = [...subschemas(schema), ...referencesOf(root, schema)].reduce((sum, inner) => sum + stepsOf(inner), ownSteps(schema));
    known.set(schema, steps);
    return steps;
  };
  return { steps: stepsOf(root), ...cost };
}

const LISTS = ['required', 'enum', 'const', 'dependentRequired'];

/** One for the schema, one for each thing that it has the value compared with, and one for each `true`, `false` or name where a schema may stand. */
const ownSteps = (schema: JsonObject): number => [...LISTS.filter((key) => Object.hasOwn(schema, key)).map((key) => schema[key]), ...innerParts(schema).filter((part) => !isObject(part))]
  .reduce<number>((sum, part) => sum + nodesIn(part), 1);

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

const REPEATS = /[*+?]|\{\d*,\d*\}/gu;

/** Anchored at its start, without groups, alternatives and back-references, and with one repeat at the most: linear in its text. */
const isSinglePass = (pattern: string): boolean => /^\^[^|()]*$/u.test(pattern) && !/\\[1-9k]/u.test(pattern) && (pattern.match(REPEATS) ?? []).length <= 1;
