import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { aliasesOf } from '../../src/core/formats/aliases.js';
import type { Format } from '../../src/core/formats/format.js';
import { FORMATS } from '../../src/core/formats/format.js';
import { definitionIn, provide } from '../../src/core/formats/provide.js';
import { schemaFor } from '../../src/core/formats/repair-schema.js';
import type { JsonObject } from '../../src/core/json.js';

const NONE = aliasesOf([]);
const tool = (name: string, inputSchema: JsonObject = { type: 'object' }) => ({ name, description: `does ${name}`, inputSchema });
const offer = (format: Format, more: object = {}) => provide({ format, nativeDeferral: false, loaders: ['tool_search'], initial: [tool('read')], searchable: [tool('hidden')], aliases: NONE, ...more });
const text = { type: 'string' };

describe('what is provided', () => {
  it.each(FORMATS)('tells nothing of a searchable tool in %s, unless its provider searches itself', (format) => {
    expect(JSON.stringify(offer(format))).not.toContain('hidden');
    const { definitions, warnings } = offer(format, { nativeDeferral: true });
    const searches = format === 'anthropic' || format === 'openai-responses';
    expect([JSON.stringify(definitions).includes('hidden'), warnings.map(({ code }) => code)]).toEqual([searches, searches ? [] : ['NATIVE_DEFERRAL_UNSUPPORTED']]);
  });

  it('puts the provider’s own search in the place of the loaders, and what is deferred last', () => {
    expect(offer('anthropic', { nativeDeferral: true }).definitions).toMatchObject([{ type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }, { name: 'read' }, { name: 'hidden', defer_loading: true }]);
    expect(offer('openai-responses', { nativeDeferral: true }).definitions).toMatchObject([{ type: 'tool_search' }, { type: 'function', name: 'read' }, { type: 'function', name: 'hidden', defer_loading: true }]);
    expect(offer('anthropic', { nativeDeferral: true, loaders: [], searchable: [] })).toMatchObject({ definitions: [{ name: 'read' }], warnings: [] });
  });

  it('keeps the loaders where the provider can not take all that would be deferred', () => {
    const searchable = Array.from({ length: 127 }, (_, i) => tool(`t${i}`));
    expect(offer('openai-responses', { nativeDeferral: true, searchable })).toMatchObject({ definitions: [{ name: 'tool_search' }, { name: 'read' }], warnings: [{ code: 'NATIVE_DEFERRAL_UNSUPPORTED' }] });
    expect(offer('anthropic', { nativeDeferral: true, initial: [tool('tool_search_tool_bm25')] }).definitions[0]).toMatchObject({ name: 'tool_search_tool_regex' });
  });

  it('leaves out a tool whose schema is no object’s, and says which', () => {
    for (const format of FORMATS) {
      const { definitions, warnings } = offer(format, { searchable: [], loaders: [], initial: [tool('a'), tool('bad', { type: 'string' }), tool('b')] });
      expect(warnings).toEqual([{ code: 'SCHEMA_NOT_SUPPORTED', name: 'bad', message: expect.any(String) }]);
      expect(JSON.stringify(definitions)).not.toContain('bad');
      expect(definitions).toHaveLength(format === 'envelope' ? 1 : 2);
    }
    expect(offer('envelope', { loaders: [], initial: [] }).definitions).toEqual([]);
  });

  it('names no more without a format than before, and aliases within one', () => {
    const given = { ...tool('a/b'), title: 'A', outputSchema: { type: 'object' }, annotations: { readOnlyHint: 'yes', own: 1 } };
    const aliases = aliasesOf(['a/b']);
    expect(definitionIn(null, given, aliases)).toEqual({ name: 'a/b', description: 'does a/b', inputSchema: { type: 'object' } });
    expect(definitionIn('mcp', given, aliases)).toMatchObject({ name: aliases.aliasOf('a/b'), title: 'A', outputSchema: { type: 'object' }, annotations: { own: 1 } });
  });
});

describe('schemas that a provider refuses', () => {
  it.each<readonly [title: string, declared: JsonObject, shown: JsonObject]>([
    ['no type', { properties: { z: text } }, { type: 'object', properties: { z: text } }],
    ['or null', { type: ['object', 'null'] }, { type: 'object', properties: {} }],
    [
      'closed branches',
      { anyOf: [{ properties: { x: text }, required: ['x', 'k'], additionalProperties: false }, { properties: { x: { type: 'number' }, y: text }, required: ['k'], additionalProperties: false }] },
      { type: 'object', properties: { x: { anyOf: [text, { type: 'number' }] }, y: text }, required: ['k'], additionalProperties: false },
    ],
    ['open branches', { oneOf: [{ properties: { x: text } }, { properties: { y: text } }] }, { type: 'object', properties: { x: { anyOf: [text, {}] }, y: { anyOf: [text, {}] } } }],
    ['one of two asked for', { type: 'object', properties: { a: text, b: text }, additionalProperties: false, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { type: 'object', properties: { a: text, b: text }, additionalProperties: false }],
    ['all of', { allOf: [{ type: 'object', properties: { p: text, q: text } }, { required: ['p'], properties: { q: { minLength: 1 } } }] }, { type: 'object', properties: { p: text, q: { allOf: [text, { minLength: 1 }] } }, required: ['p'] }],
    ['a reference', { $ref: '#/$defs/a', $defs: { a: { properties: { b: { $ref: '#/$defs/a' } } } } }, { type: 'object', properties: { b: { $ref: '#/$defs/a' } }, $defs: { a: { properties: { b: { $ref: '#/$defs/a' } } } } }],
    ['a reference to the whole', { properties: { b: { $ref: '#' } } }, { type: 'object', properties: { b: { $ref: '#/$defs/whole' } }, $defs: { whole: { properties: { b: { $ref: '#/$defs/whole' } } } } }],
    ['true and false', { type: 'object', properties: { a: true, b: false, l: { type: 'array' } } }, { type: 'object', properties: { a: {}, b: { not: {} }, l: { type: 'array', items: {} } } }],
    ['a tuple', { type: 'object', properties: { l: { type: 'array', items: [text], additionalItems: false } } }, { type: 'object', properties: { l: { type: 'array', prefixItems: [text], items: false } } }],
  ])('%s', (_title, declared, shown) => {
    expect(schemaFor('openai-chat', declared)).toEqual(shown);
    expect(schemaFor('anthropic', declared)).toEqual(shown);
  });

  it('tells Anthropic of a key it refuses as a pattern that fits it alone', () => {
    const declared = { type: 'object', properties: { $top: text, ok: text }, required: ['$top'], additionalProperties: false };
    expect(schemaFor('anthropic', declared)).toEqual({ ...declared, properties: { ok: text }, patternProperties: { '^\\$top$': text } });
    expect(schemaFor('gemini', declared)).toBeNull();
    expect(schemaFor('gemini', { ...declared, required: [] })).toMatchObject({ properties: { ok: text } });
  });

  it('writes for Gemini what Gemini knows', () => {
    const properties = { n: { type: ['string', 'null'], const: 'x' }, e: { enum: [1, 2], description: 'which' }, r: { $ref: '#/$defs/r' }, u: { anyOf: [text, { type: 'null' }], description: 'u' } };
    expect(schemaFor('gemini', { type: 'object', properties, additionalProperties: false, $defs: { r: { type: 'object', properties: { r: { $ref: '#/$defs/r' }, k: { type: 'integer', minimum: 1 } } } } })).toMatchObject({
      type: 'object',
      properties: { n: { type: 'string', enum: ['x'] }, e: { type: 'number', description: 'which\nAllowed: 1, 2' }, r: { type: 'object', properties: { k: { type: 'integer', minimum: 1 } } } },
    });
  });

  it('is bounded, whatever the schema', () => {
    const doubling = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }], properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } } }]));
    const deep = Array.from({ length: 64 }).reduce<JsonObject>((inner) => ({ type: 'object', properties: { d: inner } }), { type: 'string' });
    for (const schema of [{ $ref: '#/$defs/d0', $defs: { ...doubling, d40: { type: 'object' } } }, deep]) {
      for (const format of FORMATS) expect(JSON.stringify(schemaFor(format, schema) ?? {}).length).toBeLessThan(2_000_000);
    }
  });

  it('takes members such as `__proto__` for members', () => {
    const schema = JSON.parse('{"anyOf":[{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}],"required":["__proto__"]}') as JsonObject;
    for (const format of FORMATS) expect(JSON.stringify(schemaFor(format, schema))).toContain('"__proto__"');
  });

  it('keeps what it makes of many branches small, whatever stands in them', () => {
    const many = (count: number, branch: (i: number) => object): object[] => Array.from({ length: count }, (_, i) => branch(i));
    const unions = { type: 'object', anyOf: many(600, (i) => ({ properties: { [`p${i}`]: {} }, additionalProperties: { maxLength: i } })) };
    const meets = { allOf: many(1_500, (i) => ({ type: 'object', properties: { p: { maxLength: i } } })) };
    const wide = { type: 'object', anyOf: [{ properties: { a: {} }, additionalProperties: { enum: many(900, (i) => ({ i })) } }, { properties: Object.fromEntries(many(900, () => ({})).map((one, i) => [`q${i}`, one])) }] };
    for (const schema of [unions, meets, wide]) {
      for (const format of FORMATS) expect(JSON.stringify(schemaFor(format, schema)).length).toBeLessThan(500_000);
    }
  });

  it('puts schemas of several dialects into one envelope', () => {
    const old = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { t: { type: 'array', items: [{ type: 'string' }], additionalItems: false } } };
    const { definitions } = provide({ format: 'envelope', nativeDeferral: false, loaders: [], initial: [{ name: 'a', description: 'a', inputSchema: old }], searchable: [], aliases: aliasesOf(['a']) });
    const [{ inputSchema }] = definitions as [{ inputSchema: object }];
    const validate = new Ajv2020({ strict: false }).compile(inputSchema);
    expect([['x'], [7], ['x', 'y']].map((t) => validate({ name: 'a', input: { t } }))).toEqual([true, false, false]);
  });
});
