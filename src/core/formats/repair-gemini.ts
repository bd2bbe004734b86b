/** JSON Schema in Gemini's own schema language, which knows neither references nor combinators but `anyOf`. Looser where it must be. */
import { isObject, unique } from '../json.js';
import type { JsonObject } from '../json.js';
import { pointedAt } from '../schema-walk.js';

/** A schema of Gemini's. Numbers of things are texts there (64-bit integers of protocol buffers). */
export interface GeminiSchema {
  readonly type?: GeminiType;
  readonly nullable?: boolean;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: GeminiSchema;
  readonly properties?: Readonly<Record<string, GeminiSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly GeminiSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly minLength?: string;
  readonly maxLength?: string;
  readonly minItems?: string;
  readonly maxItems?: string;
  readonly minProperties?: string;
  readonly maxProperties?: string;
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const;
export type GeminiType = (typeof TYPES)[number];
/** An integer is a number; null is written as `nullable`. */
const ANY_TYPE = ['string', 'number', 'boolean', 'array', 'object', 'null'];

/** Schemas and members written for one tool, and how deep; past either a part is written as open. */
const BUDGET = 2_000;
const DEPTH = 24;

interface Place {
  readonly root: JsonObject;
  readonly budget: { left: number };
  readonly depth: number;
  /** References being followed. */
  readonly path: ReadonlySet<string>;
}

const SCALARS: readonly GeminiSchema[] = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'object' }];
const SCALARS_OR_NULL = SCALARS.map((one) => ({ ...one, nullable: true }));
/** Anything. What has no type can not be written, so an array inside an array has none either here. */
const OPEN: GeminiSchema = { anyOf: [...SCALARS_OR_NULL, { type: 'array', nullable: true, items: { anyOf: SCALARS_OR_NULL } }] };

/** `root` has `type: object` and no combinator at its top. */
export const geminiSchemaOf = (root: JsonObject): GeminiSchema => convert(root, { root, budget: { left: BUDGET }, depth: 0, path: new Set() });

function convert(schema: unknown, around: Place): GeminiSchema {
  around.budget.left -= 1;
  if (!isObject(schema) || around.budget.left < 0 || around.depth > DEPTH) return OPEN;
  const { merged, place } = gathered(schema, { ...around, depth: around.depth + 1 });
  const { anyOf, oneOf, ...plain } = merged;
  const choice = anyOf ?? oneOf;
  if (Array.isArray(choice)) return oneOrMore((choice as unknown[]).filter((one) => one !== false).map((one) => convert(isObject(one) ? joined(plain, one, place) : plain, place)), merged);
  if (!ASSERTIONS.some((key) => Object.hasOwn(merged, key))) return oneOrMore(OPEN.anyOf ?? [], merged);
  const types = typesOf(merged);
  const nullable = types.includes('null') ? { nullable: true } : {};
  return oneOrMore(types.filter(isType).map((type) => ({ type, ...nullable, ...KEYWORDS[type](merged, place) })), merged);
}

/** Beside `anyOf` nothing may stand: the words go to the first alternative. Null alone has no type here. */
function oneOrMore(written: readonly GeminiSchema[], schema: JsonObject): GeminiSchema {
  const [first = { type: 'string', nullable: true }, ...others] = written;
  const head = 'anyOf' in first ? first : { ...first, ...wordsOf(schema) };
  return others.length === 0 ? head : { anyOf: [head, ...others].flatMap((one) => one.anyOf ?? [one]) };
}

/** The schema with what it refers to and all that must hold besides. */
function gathered(schema: JsonObject, place: Place): { readonly merged: JsonObject; readonly place: Place } {
  const { $ref: reference, allOf, ...own } = schema;
  const follows = typeof reference === 'string' && !place.path.has(reference);
  const parts = [...(follows ? [pointedAt(place.root, reference)] : []), ...(Array.isArray(allOf) ? (allOf as unknown[]) : [])].filter(isObject);
  let merged: JsonObject = own;
  let inside: Place = follows ? { ...place, path: new Set(place.path).add(reference) } : place;
  for (const part of parts) {
    if (place.budget.left < 0) break;
    const inner = gathered(part, inside);
    merged = joined(merged, inner.merged, place);
    inside = inner.place;
  }
  return { merged, place: inside };
}

/** Both hold. Every keyword read here is an assertion of its own: where both have one, keeping one of them loosens. */
function joined(a: JsonObject, b: JsonObject, { budget }: Place): JsonObject {
  const [ofA, ofB] = [propertiesOf(a), propertiesOf(b)];
  budget.left -= 1 + ofA.length + ofB.length;
  const properties = new Map(ofA);
  for (const [name, one] of ofB) properties.set(name, properties.has(name) ? { allOf: [properties.get(name), one] } : one);
  const required = [...listOf(a['required']), ...listOf(b['required'])];
  return {
    ...b,
    ...a,
    ...(properties.size > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required: unique(required) } : {}),
    ...typeOfBoth(a['type'], b['type']),
  };
}

function typeOfBoth(a: unknown, b: unknown): JsonObject {
  if (a === undefined || b === undefined) return {};
  const [ofA, ofB] = [listOf(a), listOf(b)];
  const within = (list: readonly unknown[]) => (type: unknown): boolean => list.includes(type) || (type === 'integer' && list.includes('number'));
  const types = unique([...ofA.filter(within(ofB)), ...ofB.filter(within(ofA))]);
  return types.length > 0 ? { type: types } : {};
}

const propertiesOf = (schema: JsonObject): [string, unknown][] => (isObject(schema['properties']) ? Object.entries(schema['properties']) : []);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value]);

/** The values a schema lists; null when it lists none. */
const valuesOf = (schema: JsonObject): readonly unknown[] | null => (Object.hasOwn(schema, 'const') ? [schema['const']] : Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : null);

function typesOf(schema: JsonObject): string[] {
  const values = valuesOf(schema);
  const declared = schema['type'] === undefined ? ANY_TYPE : listOf(schema['type']).map(String);
  if (values === null) return declared;
  return declared.filter((type) => values.some((value) => typeOfValue(value) === (type === 'integer' ? 'number' : type)));
}

const typeOfValue = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const isType = (type: string): type is GeminiType => (TYPES as readonly string[]).includes(type);

/** What else is asserted of a value of each type. */
const KEYWORDS: Readonly<Record<GeminiType, (schema: JsonObject, place: Place) => GeminiSchema>> = {
  string: (schema) => ({ ...enumOf(schema), ...(schema['format'] === 'date-time' ? { format: 'date-time' } : {}), ...patternOf(schema), ...counts(schema, 'minLength', 'maxLength') }),
  number: (schema) => ({ ...formatOf(schema, ['float', 'double']), ...bounds(schema) }),
  integer: (schema) => ({ ...formatOf(schema, ['int32', 'int64']), ...bounds(schema) }),
  boolean: () => ({}),
  array: (schema, place) => ({ items: convert(Object.hasOwn(schema, 'prefixItems') ? true : schema['items'], place), ...counts(schema, 'minItems', 'maxItems') }),
  object: objectKeywords,
};

function objectKeywords(schema: JsonObject, place: Place): GeminiSchema {
  const named = propertiesOf(schema).filter(([, one]) => one !== false);
  if (named.length === 0) return counts(schema, 'minProperties', 'maxProperties');
  const known = new Set(named.map(([name]) => name));
  const required = listOf(schema['required']).filter((name): name is string => typeof name === 'string' && known.has(name));
  return {
    properties: Object.fromEntries(named.map(([name, one]) => [name, convert(one, place)])),
    ...(required.length > 0 ? { required } : {}),
    ...counts(schema, 'minProperties', 'maxProperties'),
  };
}

const ASSERTIONS = [
  'type', 'enum', 'const', 'properties', 'required', 'items', 'prefixItems', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'minProperties', 'maxProperties',
];

/** Texts alone can be listed there, and no empty one; what else is listed is told in words. */
function enumOf(schema: JsonObject): GeminiSchema {
  const texts = (valuesOf(schema) ?? []).filter((value) => typeof value === 'string');
  return texts.length > 0 && !texts.includes('') ? { enum: texts } : {};
}

function wordsOf(schema: JsonObject): GeminiSchema {
  const values = valuesOf(schema) ?? [];
  const untold = values.some((value) => typeof value !== 'string' || value === '') ? `Allowed: ${values.map((value) => JSON.stringify(value)).join(', ')}` : '';
  const description = [typeof schema['description'] === 'string' ? schema['description'] : '', untold].filter((text) => text !== '').join('\n');
  return { ...(typeof schema['title'] === 'string' ? { title: schema['title'] } : {}), ...(description === '' ? {} : { description }) };
}

const formatOf = ({ format }: JsonObject, known: readonly string[]): GeminiSchema => (typeof format === 'string' && known.includes(format) ? { format } : {});

/** Patterns are read by another engine there: what that may not know is left out. */
const patternOf = ({ pattern }: JsonObject): GeminiSchema => (typeof pattern === 'string' && !/\(\?|\\[^\w.\\/-]|\\[1-9ckpPux]/u.test(pattern) ? { pattern } : {});

function bounds({ minimum, maximum }: JsonObject): GeminiSchema {
  return { ...(typeof minimum === 'number' ? { minimum } : {}), ...(typeof maximum === 'number' ? { maximum } : {}) };
}

const counts = (schema: JsonObject, ...keys: ('minLength' | 'maxLength' | 'minItems' | 'maxItems' | 'minProperties' | 'maxProperties')[]): GeminiSchema =>
  Object.fromEntries(keys.flatMap((key) => (Number.isSafeInteger(schema[key]) ? [[key, String(schema[key])]] : [])));
