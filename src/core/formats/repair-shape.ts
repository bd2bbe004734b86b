/** What a schema says of objects, without combinators at its top. Each step may loosen and never narrows. */
import { isObject } from '../json.js';
import type { JsonObject } from '../json.js';
import { nodesIn, pointedAt } from '../schema-walk.js';

/** The objects that one branch of a schema lets through. */
interface Shape {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  /** For members that are not in `properties`; undefined = anything. Of a shape with patterns it is always undefined. */
  readonly additional: unknown;
}

const OPEN: Shape = { properties: new Map(), required: new Set(), additional: undefined };

/** Schemas looked at, and values told again in another place, while the top is taken apart; past it a part counts as open. */
const BUDGET = 20_000;

interface Walk {
  readonly root: JsonObject;
  left: number;
}

/** Keywords that hold at the top of a schema and that no provider takes there. */
const COMBINATORS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

export const hasCombinators = (schema: JsonObject): boolean => COMBINATORS.some((key) => Object.hasOwn(schema, key));

/** What is judged by what other keywords saw has no meaning once those are taken apart. */
const DEPENDENT = ['unevaluatedProperties', 'unevaluatedItems', 'type', 'properties', 'required', 'additionalProperties', 'patternProperties'];

/**
 * INVARIANT (never narrower): every object that is valid by `root` is valid by the result, which has `type: object`, `properties`
 * and no combinator at its top. Null when no object at all can be valid.
 */
export function objectSchemaOf(root: JsonObject): JsonObject | null {
  if (!allowsObjects(root)) return null;
  if (!hasCombinators(root)) return { ...root, type: 'object', properties: namedProperties(root) };
  const shape = shapeOf(root, { root, left: BUDGET }, new Set());
  if (shape === null) return null;
  const rest = Object.entries(root).filter(([key]) => !COMBINATORS.includes(key) && !DEPENDENT.includes(key));
  return Object.fromEntries([...rest, ['type', 'object'], ...Object.entries(written(shape, root))]);
}

/** A property's schema as an object: providers take no `true` and `false` there. */
const namedProperties = (schema: JsonObject): JsonObject => Object.fromEntries(Object.entries(isObject(schema['properties']) ? schema['properties'] : {}).map(([name, one]) => [name, asObject(one)]));

const asObject = (schema: unknown): JsonObject => (isObject(schema) ? schema : schema === false ? { not: {} } : {});

function written({ properties, required, additional }: Shape, root: JsonObject): JsonObject {
  const patterns = root['patternProperties'];
  // What holds for the others at the root held beside its own patterns, and still does.
  const others = isObject(patterns) ? root['additionalProperties'] : additional;
  return {
    properties: Object.fromEntries([...properties].map(([name, one]) => [name, asObject(one)])),
    ...(required.size > 0 ? { required: [...required] } : {}),
    ...(isObject(patterns) ? { patternProperties: patterns } : {}),
    ...(others === undefined ? {} : { additionalProperties: others }),
  };
}

/** Null: no object passes. `path` holds the references being followed. */
function shapeOf(schema: unknown, walk: Walk, path: ReadonlySet<string>): Shape | null {
  if (schema === false) return null;
  if (!isObject(schema)) return OPEN;
  walk.left -= 1 + Object.keys(isObject(schema['properties']) ? schema['properties'] : {}).length;
  if (walk.left < 0) return OPEN;
  if (!allowsObjects(schema)) return null;
  const parts = [ownShape(schema), ...combined(schema, walk, path)];
  return parts.reduce<Shape | null>((all, part) => (all === null || part === null ? null : both(all, part, walk)), OPEN);
}

function* combined(schema: JsonObject, walk: Walk, path: ReadonlySet<string>): Generator<Shape | null> {
  const inner = (one: unknown): Shape | null => shapeOf(one, walk, path);
  const { $ref: reference, allOf, anyOf, oneOf, if: condition } = schema;
  if (typeof reference === 'string' && !path.has(reference)) yield shapeOf(pointedAt(walk.root, reference), walk, new Set(path).add(reference));
  if (Array.isArray(allOf)) for (const one of allOf) yield inner(one);
  // One of them is a case of any of them.
  for (const list of [anyOf, oneOf]) if (Array.isArray(list)) yield any(list.map(inner), walk);
  if (condition !== undefined) yield any([inner({ allOf: [condition, schema['then'] ?? true] }), inner(schema['else'] ?? true)], walk);
}

function ownShape(schema: JsonObject): Shape {
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
  return { properties: new Map(properties), required: new Set(required), additional: isObject(schema['patternProperties']) ? undefined : schema['additionalProperties'] };
}

/** What passes both: a member that only one names is held to that one. Past the budget, what passes the first. */
function both(a: Shape, b: Shape, walk: Walk): Shape {
  const shared = [...b.properties.keys()].filter((name) => a.properties.has(name));
  walk.left -= shared.reduce((sum, name) => sum + partsOf(a.properties.get(name)).length, 0) + partsOf(a.additional).length;
  if (walk.left < 0) return a;
  const properties = new Map(a.properties);
  for (const [name, schema] of b.properties) properties.set(name, properties.has(name) ? allOf([properties.get(name), schema]) : schema);
  return { properties, required: new Set([...a.required, ...b.required]), additional: a.additional === undefined ? b.additional : b.additional === undefined ? a.additional : allOf([a.additional, b.additional]) };
}

/** What passes any: a member that one of them does not name may there be what its others may be. Past the budget members are named and no more. */
function any(branches: readonly (Shape | null)[], walk: Walk): Shape | null {
  const open = branches.filter((shape) => shape !== null);
  const [first] = open;
  if (first === undefined) return null;
  const names = [...new Set(open.flatMap(({ properties }) => [...properties.keys()]))];
  const required = new Set([...first.required].filter((name) => open.every((branch) => branch.required.has(name))));
  const cost = open.reduce((sum, { properties, additional }) => sum + names.length + nodesIn(additional) * (names.length - properties.size), 0);
  if (cost > walk.left) return { properties: new Map(names.map((name) => [name, {}])), required, additional: undefined };
  walk.left -= cost;
  const alternatives = (name: string): unknown[] => open.map(({ properties, additional }) => (properties.has(name) ? properties.get(name) : (additional ?? true)));
  return {
    properties: new Map(names.map((name) => [name, anyOf(alternatives(name))])),
    required,
    additional: open.some(({ additional }) => additional === undefined) ? undefined : anyOf(open.map(({ additional }) => additional)),
  };
}

const isAnything = (schema: unknown): boolean => schema === true || (isObject(schema) && Object.keys(schema).length === 0);

const distinct = (schemas: readonly unknown[]): unknown[] => [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];

/** What has to hold together: the parts of an `allOf` that says nothing else, or the schema alone. */
function partsOf(schema: unknown): readonly unknown[] {
  if (!isObject(schema)) return [schema];
  const [[key, parts] = [], ...more] = Object.entries(schema);
  return key === 'allOf' && more.length === 0 && Array.isArray(parts) ? (parts as unknown[]) : [schema];
}

function allOf(schemas: readonly unknown[]): unknown {
  const parts = schemas.flatMap(partsOf);
  if (parts.includes(false)) return false;
  const kept = distinct(parts.filter((schema) => !isAnything(schema)));
  return kept.length > 1 ? { allOf: kept } : (kept[0] ?? {});
}

/** Anything stays the last of several: it lets all through, and what was said beside it is still told. */
function anyOf(schemas: readonly unknown[]): unknown {
  const named = distinct(schemas.filter((schema) => schema !== false && !isAnything(schema)));
  if (schemas.some(isAnything)) return named.length === 0 ? {} : { anyOf: [...named, {}] };
  return named.length > 1 ? { anyOf: named } : (named[0] ?? false);
}

/** Whether the keywords of the schema itself let any object through. */
function allowsObjects({ type, const: constant, enum: values }: JsonObject): boolean {
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) return false;
  if (constant !== undefined && !isObject(constant)) return false;
  return !Array.isArray(values) || values.some(isObject);
}
