import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { aliasesOf } from '../../src/core/formats/aliases.js';
import { FORMATS, PROVIDER_NAME } from '../../src/core/formats/format.js';
import { provide } from '../../src/core/formats/provide.js';
import type { GeminiSchema } from '../../src/core/formats/repair-gemini.js';
import { schemaFor } from '../../src/core/formats/repair-schema.js';
import type { JsonObject } from '../../src/core/json.js';
import { PROVIDER_RULES } from '../support/provider-rules.js';
import { argumentsOf, jsonSchema } from '../support/schema-arbitrary.js';

const RUNS = { numRuns: 500 };

/** Whether a value fits; null where the validator gives up: a schema may send a value round in a circle. */
type Judge = (value: unknown) => boolean | null;

/** Null where the validator can not make anything of the schema: one that is nothing but a reference to itself. */
function judgeOf(schema: JsonObject): Judge | null {
  try {
    const compiled = new Ajv2020({ strict: false, validateSchema: false, logger: false, ownProperties: true }).compile(schema);
    return (value) => {
      try {
        return compiled(value);
      } catch {
        return null;
      }
    };
  } catch {
    return null;
  }
}

/** Gemini's language in JSON Schema. */
function asJsonSchema({ nullable, anyOf, items, properties, type, ...rest }: GeminiSchema): JsonObject {
  const numbers = Object.entries(rest).map(([key, value]) => [key, /^(?:min|max)(?:Length|Items|Properties)$/u.test(key) ? Number(value) : value] as const);
  if (anyOf !== undefined) return { anyOf: anyOf.map(asJsonSchema) };
  const own: JsonObject = {
    ...Object.fromEntries(numbers),
    type,
    ...(items && { items: asJsonSchema(items) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, asJsonSchema(one)])) }),
  };
  return nullable === true ? { anyOf: [own, { type: 'null' }] } : own;
}

describe('INVARIANT (never narrower)', () => {
  it.each(FORMATS.filter((format) => !['envelope', 'openai-responses'].includes(format)))('what the declared schema lets through passes what %s is given', (format) => {
    let met = 0;
    fc.assert(
      fc.property(jsonSchema, fc.array(argumentsOf, { minLength: 10, maxLength: 20 }), (declared, values) => {
        const isDeclared = judgeOf(declared);
        const passing = isDeclared === null ? [] : values.filter((value) => isDeclared(value) === true);
        if (passing.length === 0) return;
        const shown = schemaFor(format, declared);
        if (shown === null && format === 'gemini') return;
        met += passing.length;
        const isShown = shown === null ? () => false : judgeOf(format === 'gemini' ? asJsonSchema(shown) : shown);
        const refused = isShown === null ? 'it does not compile' : passing.filter((value) => isShown(value) === false);
        expect({ declared, shown, refused }).toMatchObject({ refused: [] });
      }),
      { ...RUNS, endOnFailure: true },
    );
    expect(met).toBeGreaterThan(1_000);
  });
});

describe('formats', () => {
  const aliases = aliasesOf([]);

  it('every definition keeps the provider’s rules, and one bad schema changes no other', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FORMATS), fc.array(jsonSchema, { minLength: 1, maxLength: 3 }), jsonSchema, (format, schemas, bad) => {
        const tools = schemas.map((inputSchema, i) => ({ name: `t${i}`, description: 'does it', inputSchema }));
        const offer = { format, nativeDeferral: false, loaders: [], searchable: [], aliases };
        const alone = provide({ ...offer, initial: tools });
        const beside = provide({ ...offer, initial: [...tools, { name: 'bad', description: '', inputSchema: bad }, { name: 'text', description: '', inputSchema: { type: 'string' } }] });
        expect(beside.warnings.map(({ name }) => name)).toContain('text');
        for (const definition of beside.definitions) expect({ definition, faults: PROVIDER_RULES[format]?.(definition) }).toMatchObject({ faults: [] });
        if (format !== 'envelope') expect(beside.definitions.slice(0, alone.definitions.length)).toEqual(alone.definitions);
        // Each tool is told, or a warning names it.
        if (format !== 'envelope') expect(beside.definitions.length + beside.warnings.length).toBe(tools.length + 2);
      }),
      { numRuns: 200, endOnFailure: true },
    );
  });

});

describe('INVARIANT (aliases)', () => {
  const toolName = fc.oneof(fc.constantFrom('a.b', 'a/b', 'a:b', 'a_b', '7z', '-', '__proto__', 'load_tools'), fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$/u));

  it('they are distinct, valid, never a real name, the same in any order, and newcomers leave them alone', () => {
    fc.assert(
      fc.property(fc.uniqueArray(toolName, { maxLength: 30 }), fc.uniqueArray(toolName, { maxLength: 10 }), (names, newcomers) => {
        const { aliasOf, nameOf } = aliasesOf(names);
        const told = names.map(aliasOf);
        expect(new Set(told).size).toBe(names.length);
        for (const [i, alias] of told.entries()) {
          expect(alias).toMatch(PROVIDER_NAME);
          expect(nameOf(alias)).toBe(alias === names[i] ? undefined : names[i]);
        }
        expect(names.map(aliasesOf([...names].reverse()).aliasOf)).toEqual(told);
        const later = aliasesOf([...newcomers, ...names, ...told.map((alias) => `${alias}x`)]);
        expect(names.map(later.aliasOf)).toEqual(told);
      }),
    );
  });

  it('a tool that comes with the name of an alias keeps its name, and the alias gives way', () => {
    const alias = aliasesOf(['crm/list']).aliasOf('crm/list');
    const later = aliasesOf(['crm/list', alias]);
    expect(later.aliasOf(alias)).toBe(alias);
    expect(later.aliasOf('crm/list')).not.toBe(alias);
    expect(later.nameOf(alias)).toBeUndefined();
  });
});
