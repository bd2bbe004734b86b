import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SearchDocument } from '../../src/core/search.js';
import { LexicalRanker } from '../../src/search/lexical-ranker.js';

const ranker = new LexicalRanker();

const WORDS = ['file', 'files', 'read', 'reading', 'reed', 'folder', 'directory', 'commit', 'comit', 'list', '文件', '读取', '提交', '飞书', '目录', 'readFile', '__proto__', 'constructor', 'the', '的', '!?', '😀'];
const text = fc.oneof({ weight: 4, arbitrary: fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }).map((words) => words.join(' ')) }, { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) });
const query = fc.oneof(text, fc.constantFrom(...WORDS));

const document: fc.Arbitrary<SearchDocument> = fc.record({
  name: fc.oneof(fc.constantFrom(...WORDS), fc.string({ minLength: 1, maxLength: 8 })), label: text, description: text,
  toolset: fc.constantFrom('git', 'fs', ''), source: fc.constantFrom('git', 's'), category: fc.constantFrom(null, 'commit'), keywords: fc.array(text, { maxLength: 2 }),
  parameters: fc.array(fc.record({ name: fc.constantFrom(...WORDS), description: text }), { maxLength: 2 }),
});
const documents = fc.uniqueArray(document, { selector: ({ name }) => name, maxLength: 12 });
const namesOf = (some: readonly { readonly name: string }[]): string[] => some.map(({ name }) => name);
const some = (all: readonly SearchDocument[], mask: readonly boolean[]): string[] => namesOf(all).filter((_, i) => mask[i]);
const mask = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });

describe('INVARIANT (ranking only orders)', () => {
  it('finds only what it may, once, best first, and the very name before all', () => fc.assert(fc.asyncProperty(documents, query, mask, async (all, asked, chosen) => {
    const among = new Set(some(all, chosen));
    const found = await ranker.rank(all, asked, among);
    expect(new Set(namesOf(found)).size).toBe(found.length);
    expect(found.every(({ name, score }) => among.has(name) && score > 0 && Number.isFinite(score))).toBe(true);
    expect(found.every(({ score }, i) => score <= (found[i - 1]?.score ?? Infinity))).toBe(true);
    if (among.has(asked.trim())) expect(found[0]?.name).toBe(asked.trim());
  })));

  it('same input, same output, whatever the order of what may be found', () => fc.assert(fc.asyncProperty(documents, query, mask, async (all, asked, chosen) => {
    const among = some(all, chosen);
    const found = await ranker.rank(all, asked, new Set(among));
    expect(await new LexicalRanker().rank([...all], asked, new Set(among.reverse()))).toEqual(found);
  }), { numRuns: 8 }));

  it('never finds less because of tools that may not be found', () => fc.assert(fc.asyncProperty(documents, documents, query, async (all, hidden, asked) => {
    const among = new Set(namesOf(all));
    const alone = namesOf(await ranker.rank(all, asked, among));
    const beside = namesOf(await ranker.rank([...all, ...hidden.filter(({ name }) => !among.has(name))], asked, among));
    expect(beside.sort()).toEqual(alone.sort());
  })));
});
