/** What the providers publish of the definitions they take, as far as a definition alone can break it. Each validator answers what is wrong. */
import { subschemas } from '../../src/core/schema-walk.js';

type Json = any;
export type Rule = (definition: Json) => string[];

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/u;
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const fault = (broken: boolean, text: string): string[] => (broken ? [text] : []);
const onlyKeys = (value: object, keys: readonly string[]): string[] => Object.keys(value).filter((key) => !keys.includes(key)).map((key) => `unknown member ${key}`);

export function everySchema(schema: Json): Json[] {
  return [schema, ...subschemas(schema).flatMap(everySchema)];
}

/** "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level"; "array schema missing items"; "object schema missing properties". */
const openAiParameters = (schema: Json): string[] => [
  ...fault(schema.type !== 'object', 'top is no object'),
  ...fault(!isObject(schema.properties), 'object schema missing properties'),
  ...['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not', '$ref'].filter((key) => key in schema).map((key) => `${key} at the top`),
  ...everySchema(schema).flatMap((one) => [...fault([one.type].flat().includes('array') && one.items === undefined, 'array schema missing items'), ...fault(Array.isArray(one.items), 'items is a list')]),
];

const openAiChat: Rule = (definition) => [
  ...onlyKeys(definition, ['type', 'function']),
  ...onlyKeys(definition.function, ['name', 'description', 'parameters', 'strict']),
  ...fault(!NAME.test(definition.function.name), 'name'),
  ...fault(definition.function.description.length > 1024, 'description is longer than 1024'),
  ...openAiParameters(definition.function.parameters),
];

const openAiResponses: Rule = (definition) => [
  ...onlyKeys(definition, ['type', 'name', 'description', 'parameters', 'strict', 'defer_loading']),
  ...fault(definition.strict !== false, 'strict is not told'),
  ...fault(!NAME.test(definition.name), 'name'),
  ...openAiParameters(definition.parameters),
];

/** "input_schema does not support oneOf, allOf, or anyOf at the top level"; "Property keys should match pattern"; JSON Schema 2020-12. */
const anthropic: Rule = ({ input_schema: schema, ...definition }) => [
  ...onlyKeys(definition, ['name', 'description', 'defer_loading']),
  ...fault(!NAME.test(definition.name), 'name'),
  ...fault(definition.description === '', 'description is empty'),
  ...fault(schema.type !== 'object', 'top is no object'),
  ...['oneOf', 'anyOf', 'allOf'].filter((key) => key in schema).map((key) => `${key} at the top`),
  ...Object.keys(schema.properties ?? {}).filter((key) => !/^[a-zA-Z0-9_.-]{1,64}$/u.test(key)).map((key) => `property key ${key}`),
  ...everySchema(schema).flatMap((one) => fault(Array.isArray(one.items), 'items is a list, which 2020-12 does not know')),
];

const GEMINI_KEYS = [
  'type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'properties', 'required', 'anyOf', 'propertyOrdering', 'default', 'example', 'minimum', 'maximum', 'pattern', 'minLength', 'maxLength',
  'minItems', 'maxItems', 'minProperties', 'maxProperties',
];
const GEMINI_FORMATS: Record<string, string[]> = { string: ['date-time', 'enum'], number: ['float', 'double'], integer: ['int32', 'int64'] };

/** "only allowed for OBJECT type", "items: missing field", "enum: only allowed for STRING type", "property is not defined", "any_of … must be the only field set". */
export function geminiSchema(schema: Json): string[] {
  if ('anyOf' in schema) return [...onlyKeys(schema, ['anyOf']), ...fault(schema.anyOf.length < 1, 'anyOf is empty'), ...schema.anyOf.flatMap(geminiSchema)];
  const { type } = schema;
  const only = (expected: string | string[], keys: string[]): string[] => ([expected].flat().includes(type) ? [] : keys.filter((key) => key in schema).map((key) => `${key} of a ${type}`));
  const properties = schema.properties ?? {};
  return [
    ...onlyKeys(schema, GEMINI_KEYS),
    ...fault(!['string', 'number', 'integer', 'boolean', 'array', 'object'].includes(type), `type ${type}`),
    ...only('object', ['properties', 'required', 'minProperties', 'maxProperties']),
    ...only('array', ['items', 'minItems', 'maxItems']),
    ...only('string', ['enum', 'pattern', 'minLength', 'maxLength']),
    ...only(['number', 'integer'], ['minimum', 'maximum']),
    ...fault(type === 'array' && !isObject(schema.items), 'items: missing field'),
    ...fault('enum' in schema && !(schema.enum.length > 0 && schema.enum.every((value: unknown) => typeof value === 'string' && value !== '')), 'enum holds other than texts'),
    ...fault('format' in schema && !GEMINI_FORMATS[type]?.includes(schema.format), `format ${schema.format} of a ${type}`),
    ...(schema.required ?? []).filter((name: string) => !Object.hasOwn(properties, name)).map((name: string) => `required ${name} is not defined`),
    ...Object.values(properties).flatMap(geminiSchema),
    ...(isObject(schema.items) ? geminiSchema(schema.items) : []),
  ];
}

const gemini: Rule = ({ parameters, ...definition }) => [
  ...onlyKeys(definition, ['name', 'description']),
  ...fault(!NAME.test(definition.name), 'name'),
  ...(parameters === undefined
    ? []
    : [
        ...fault(parameters.type !== 'object', 'top is no object'),
        ...fault(Object.keys(parameters.properties).length === 0, 'properties should be non-empty'),
        ...Object.keys(parameters.properties).filter((key) => !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/u.test(key)).map((key) => `parameter name ${key}`),
        ...geminiSchema(parameters),
      ]),
];

/** Names: 1 to 128 of A-Z a-z 0-9 _ - . ; the rest is the SDK's own schema, which the golden test parses with. */
const mcp: Rule = (definition) => [
  ...onlyKeys(definition, ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']),
  ...fault(!/^[A-Za-z0-9_.-]{1,128}$/u.test(definition.name), 'name'),
  ...[definition.inputSchema, ...(definition.outputSchema ? [definition.outputSchema] : [])].flatMap((schema) => fault(schema.type !== 'object', 'top is no object')),
];

const envelope: Rule = ({ name, inputSchema }) => [
  ...fault(name !== 'tool_request', 'name'),
  ...fault(inputSchema.additionalProperties !== false || inputSchema.required.join() !== 'name,input', 'not exactly a name and an input'),
  ...inputSchema.properties.name.enum.filter((one: string) => !NAME.test(one)).map((one: string) => `name ${one}`),
  ...fault(inputSchema.anyOf.map((one: Json) => one.properties.name.const).join() !== inputSchema.properties.name.enum.join(), 'names and choices differ'),
];

export const PROVIDER_RULES: Readonly<Record<string, Rule>> = { 'openai-chat': openAiChat, 'openai-responses': openAiResponses, anthropic, gemini, mcp, envelope };
