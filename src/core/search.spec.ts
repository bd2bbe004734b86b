import { describe, expect, it } from '@jest/globals';
import { catalogTool } from './catalog.js';
import { readDeclaration } from './declaration-reader.js';
import { searchDocumentOf } from './search.js';

const tool = (entry: object, governance = {}) => catalogTool({
  name: 'a', source: 's', available: true, revision: 1, governance,
  declaration: readDeclaration({ name: 'a', description: 'Does it.', ...entry }, 'a', { format: 'toolcrib', defaultToolset: 'default' }),
});

const parametersOf = (inputSchema: object) => searchDocumentOf(tool({ inputSchema })).parameters;

describe('a tool as it is searched', () => {
  it('has the texts in force, an agent’s own before the others', () => {
    const given = tool({ keywords: ['k'], loadingCategory: 'c', toolset: 't' }, { description: 'Ops say.' });
    expect(searchDocumentOf(given)).toEqual({ name: 'a', label: 'a', description: 'Ops say.', toolset: 't', source: 's', category: 'c', keywords: ['k'], parameters: [] });
    expect(searchDocumentOf(given, { label: 'L', description: 'Mine.' })).toMatchObject({ label: 'L', description: 'Mine.' });
  });

  it('has the parameters of two levels, with the words that they may be', () => {
    expect(parametersOf({
      type: 'object',
      properties: {
        mode: { type: 'string', description: 'How', enum: ['fast', 'slow', 3] },
        options: { properties: { depth: { description: 'How deep', properties: { no: {} } } } },
        items: { type: 'array', items: { properties: { id: {} } } },
      },
    })).toEqual([
      { name: 'mode', description: 'How fast slow' }, { name: 'options', description: '' }, { name: 'depth', description: 'How deep' },
      { name: 'items', description: '' }, { name: 'id', description: '' },
    ]);
  });

  it.each([
    [{ properties: [] }], [{ properties: null }], [{ properties: { a: null, b: true, c: [], d: { description: 3, enum: 'x', items: 7, properties: 'no' } } }],
    [JSON.parse('{"properties":{"__proto__":{"description":"d"},"constructor":{"properties":{"__proto__":{}}}}}')],
  ])('tolerates any schema: %j', (schema) => expect(parametersOf(schema)).toEqual(expect.any(Array)));

  it('keeps names of every kind', () => {
    expect(parametersOf(JSON.parse('{"properties":{"__proto__":{"description":"d"}}}') as object)).toEqual([{ name: '__proto__', description: 'd' }]);
    expect(parametersOf(JSON.parse('{"__proto__":{"properties":{"a":{}}}}') as object)).toEqual([]);
  });

  it('is of bounded length', () => {
    const long = 'x'.repeat(65_536);
    const properties = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${i}${long}`, { description: long, enum: Array.from({ length: 1_000 }, () => long) }]));
    const found = searchDocumentOf(tool({ label: long, keywords: Array.from({ length: 500 }, () => long), inputSchema: { properties } }), { description: long });
    expect(JSON.stringify(found).length).toBeLessThan(40_000);
  });
});
