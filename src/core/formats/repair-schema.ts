/** The schema of a tool's arguments as each provider takes it. Check judges by the declared one: what a model is shown may be looser, never narrower. */
import { isObject } from '../json.js';
import type { JsonObject } from '../json.js';
import { mapSchemas } from '../schema-walk.js';
import type { Format } from './format.js';
import { geminiSchemaOf } from './repair-gemini.js';
import { isNamedInside, referencesIn, withReferences } from './repair-references.js';
import { hasCombinators, objectSchemaOf } from './repair-shape.js';

/** Null: no schema that this provider takes says what the declared one says. */
type Repair = (schema: JsonObject) => JsonObject | null;

/** Schemas do not change once they are in a catalog, so each is gone through once. */
export function onceEach<T>(read: (schema: JsonObject) => Exclude<T, undefined>): (schema: JsonObject) => Exclude<T, undefined> {
  const known = new WeakMap<JsonObject, Exclude<T, undefined>>();
  return (schema) => {
    const before = known.get(schema);
    if (before !== undefined) return before;
    const made = read(schema);
    known.set(schema, made);
    return made;
  };
}

/** An object at the top and nothing but: what MCP asks for. Everything else stays as it was declared. */
const forMcp = onceEach<JsonObject | null>((schema) => {
  if (objectSchemaOf(schema) === null) return null;
  const properties = isObject(schema['properties']) ? { properties: asObjects(schema['properties']) } : {};
  return inPlace({ ...schema, type: 'object', ...properties }, schema);
});

const asObjects = (properties: JsonObject): JsonObject => Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, one === true ? {} : one === false ? { not: {} } : one]));

const flat = onceEach<JsonObject | null>((schema) => {
  const object = objectSchemaOf(schema);
  return object && inPlace(object, schema);
});

/** What a schema refers to itself as is the declared whole, not the object that is made of it. */
function inPlace(object: JsonObject, schema: JsonObject): JsonObject | null {
  if (schema['type'] === 'object' && hasCombinators(object) === hasCombinators(schema)) return object;
  return isNamedInside(schema) && (hasCombinators(schema) || referencesIn(schema).length > 0) ? null : withReferences(object, schema);
}

const forOpenAi = onceEach<JsonObject | null>((schema) => {
  const object = flat(schema);
  return object && current(object);
});

const ANTHROPIC_KEY = /^[a-zA-Z0-9_.-]{1,64}$/u;

/** Names of arguments that Anthropic refuses are told as patterns that fit that one name. */
const forAnthropic = onceEach<JsonObject | null>((schema) => {
  const object = forOpenAi(schema);
  if (object === null || !isObject(object['properties'])) return object;
  const members = Object.entries(object['properties']);
  const refused = members.filter(([name]) => !ANTHROPIC_KEY.test(name));
  if (refused.length === 0) return object;
  if (isNamedInside(object)) return null;
  const patterns = [...(isObject(object['patternProperties']) ? Object.entries(object['patternProperties']) : []), ...refused.map(([name, one]) => [exactly(name), one] as const)];
  return withReferences({ ...object, properties: Object.fromEntries(members.filter(([name]) => ANTHROPIC_KEY.test(name))), patternProperties: Object.fromEntries(patterns) }, object);
});

const exactly = (name: string): string => `^${name.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')}$`;

const GEMINI_KEY = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/u;

/** An argument whose name Gemini refuses can not be told; a tool that can not be called without it is left out. */
const forGemini = onceEach<JsonObject | null>((schema) => {
  if (isNamedInside(schema) && referencesIn(schema).length > 0) return null;
  const object = flat(schema);
  if (object === null || !isObject(object['properties'])) return null;
  const members = Object.entries(object['properties']);
  const refused = new Set(members.map(([name]) => name).filter((name) => !GEMINI_KEY.test(name)));
  if (Array.isArray(object['required']) && object['required'].some((name) => refused.has(String(name)))) return null;
  return geminiSchemaOf({ ...object, properties: Object.fromEntries(members.filter(([name]) => !refused.has(name))) }) as JsonObject;
});

/** In the words of the current JSON Schema; `items` is written out, because OpenAI asks for it. */
function current(schema: JsonObject): JsonObject {
  const { $schema: _dialect, ...rest } = mapSchemas(schema, (one) => withItems(withPrefixItems(one)));
  return rest;
}

function withPrefixItems(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema['items'])) return schema;
  const { items, additionalItems, ...rest } = schema;
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}

const withItems = (schema: JsonObject): JsonObject => ((schema['type'] === 'array' || (Array.isArray(schema['type']) && schema['type'].includes('array'))) && !Object.hasOwn(schema, 'items') ? { ...schema, items: {} } : schema);

/** Together with schemas of other dialects in one: all in the current one. */
const forEnvelope = onceEach<JsonObject | null>((schema) => {
  const object = forMcp(schema);
  return object && current(object);
});

const REPAIRS: Readonly<Record<Format, Repair>> = { 'openai-chat': forOpenAi, 'openai-responses': forOpenAi, anthropic: forAnthropic, gemini: forGemini, mcp: forMcp, envelope: forEnvelope };

/** INVARIANT (never narrower): arguments that the declared schema lets through pass what a model is shown of it. */
export const schemaFor = (format: Format, schema: JsonObject): JsonObject | null => REPAIRS[format](schema);
