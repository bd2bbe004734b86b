import fc from 'fast-check';
import type { JsonObject } from '../../src/core/json.js';

const NAMES = ['a', 'b', 'c', '$top', 'd-e'];
const value = fc.constantFrom<unknown>('', 'x', 'yy', 0, 1, 2.5, true, null, [], [1], {}, { a: 1 });
/** Small values over the same names, so that schemas and values meet. Lists hold no lists: Gemini can not tell of those where nothing is said. */
const scalar = fc.constantFrom<unknown>('', 'x', 'yy', 0, 1, 2.5, true, null);
const members = (of: fc.Arbitrary<unknown>, least = 0): fc.Arbitrary<JsonObject> => fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), of), { selector: ([name]) => name, minLength: least, maxLength: 4 }).map((list) => Object.fromEntries(list));
export const argumentsOf: fc.Arbitrary<JsonObject> = members(fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: fc.array(scalar, { maxLength: 2 }) }, { weight: 2, arbitrary: members(fc.oneof(scalar, members(scalar))) }));

/** Few keywords at once: many together let nothing through. */
const some = (shape: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.subarray(Object.keys(shape), { maxLength: Math.min(3, Object.keys(shape).length) }).chain((keys) => fc.record(Object.fromEntries(keys.flatMap((key) => (shape[key] ? [[key, shape[key]]] : []))))).map((made) => ({ ...made }));
const required = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 });

const tie = fc.letrec<{ schema: unknown; object: JsonObject; leaf: JsonObject; mixed: JsonObject }>((of) => {
  const list = fc.array(of('schema'), { minLength: 1, maxLength: 2 });
  return {
    schema: fc.oneof({ maxDepth: 2 }, { weight: 3, arbitrary: of('leaf') }, { weight: 2, arbitrary: of('object') }, { weight: 2, arbitrary: of('mixed') }, { weight: 1, arbitrary: fc.boolean() }),
    leaf: fc.oneof(
      some({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', ['string', 'null'], ['integer', 'string']), description: fc.constant('words'), minLength: fc.nat(2), maximum: fc.nat(2), pattern: fc.constantFrom('^x', '(?=x)') }),
      some({ enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }) }),
      some({ const: value }),
      some({ $ref: fc.constantFrom('#', '#/$defs/d', '#/$defs/e', '#/properties/a') }),
      fc.constant({}),
    ),
    object: some({
      type: fc.constantFrom('object', ['object', 'null']),
      properties: members(of('schema')),
      required,
      additionalProperties: of('schema'),
      patternProperties: fc.record({ '^a': of('schema') }),
      minProperties: fc.nat(1),
      maxProperties: fc.integer({ min: 2, max: 5 }),
    }),
    mixed: some({
      type: fc.constantFrom('object', 'array'),
      properties: members(of('schema')),
      required,
      items: of('schema'),
      anyOf: list,
      oneOf: list,
      allOf: list,
      not: of('schema'),
      if: of('schema'),
      then: of('schema'),
      else: of('schema'),
    }),
  };
});

/** Any schema at all, with two definitions that it may refer to. */
export const jsonSchema: fc.Arbitrary<JsonObject> = fc
  .record({ top: fc.oneof(tie.object, tie.mixed), d: tie.schema, e: tie.schema, a: tie.schema })
  .map(({ top, d, e, a }) => ({ ...top, properties: { a, ...(top['properties'] as JsonObject | undefined) }, $defs: { d, e } }));
