import { describe, expect, it } from '@jest/globals';
import type { SearchDocument } from '../core/search.js';
import { BlendedRanker } from './blended-ranker.js';
import { EmbeddingProvider } from './embedding-provider.js';
import { LexicalRanker } from './lexical-ranker.js';

const document = (name: string, description: string): SearchDocument => ({ name, label: name, description, toolset: 'default', source: 's', category: null, keywords: [], parameters: [] });
const documents = [document('lamp_on', 'Makes a room bright'), document('door_lock', 'Keeps others out'), document('room_list', 'Names each room')];
const all = new Set(documents.map(({ name }) => name));
const words = new LexicalRanker();

/** Two directions: light, and all else. */
class Stub extends EmbeddingProvider {
  constructor(private readonly answer: (texts: readonly string[]) => Promise<number[][]> = async (texts) => texts.map((text) => (/bright|illuminat/u.test(text) ? [1, 0] : [0, 1]))) {
    super();
  }

  embed(texts: readonly string[]): Promise<number[][]> {
    return this.answer(texts);
  }
}

async function prepared(provider: EmbeddingProvider): Promise<BlendedRanker> {
  const ranker = new BlendedRanker(words, provider);
  ranker.prepare(documents);
  await new Promise((resolve) => setTimeout(resolve, 20));
  return ranker;
}

const names = async (ranker: BlendedRanker, query: string, among: ReadonlySet<string> = all): Promise<string[]> => (await ranker.rank(documents, query, among)).map(({ name }) => name);

describe('an operator’s vectors', () => {
  it('find what has no word in common, among what may be found', async () => {
    const ranker = await prepared(new Stub());
    expect(await words.rank(documents, 'illuminate', all)).toEqual([]);
    expect(await names(ranker, 'illuminate')).toEqual(['lamp_on']);
    expect(await names(ranker, 'illuminate', new Set(['door_lock']))).toEqual([]);
    expect(await names(ranker, '')).toEqual([]);
  });

  it('move what words found, but not the very name', async () => {
    const ranker = await prepared(new Stub());
    expect((await names(ranker, 'illuminate room'))[0]).toBe('lamp_on');
    expect((await names(ranker, 'room_list'))[0]).toBe('room_list');
  });

  it.each<[string, Stub]>([
    ['fails', new Stub(() => Promise.reject(new Error('no network')))],
    ['throws', new Stub(() => { throw new Error('no network'); })],
    ['gives too few', new Stub(async () => [])],
    ['fails for the query', new Stub((texts) => (texts.length > 1 ? Promise.resolve(texts.map(() => [1, 0])) : Promise.reject(new Error('no network'))))],
    ['never answers', new Stub(() => new Promise(() => undefined))],
    ['does not answer the query', new Stub((texts) => (texts.length > 1 ? Promise.resolve(texts.map(() => [1, 0])) : new Promise(() => undefined)))],
  ])('leave it to the words when the provider %s', async (_, provider) => {
    const ranker = await prepared(provider);
    expect(await ranker.rank(documents, 'room', all)).toEqual(await words.rank(documents, 'room', all));
  });

  it('that are no numbers count for nothing', async () => {
    const ranker = await prepared(new Stub(async (texts) => texts.map((_, i) => [[NaN, 1], [0, 0], [1, 2, 3]][i % 3] ?? [])));
    expect(await names(ranker, 'room')).toEqual((await words.rank(documents, 'room', all)).map(({ name }) => name));
  });
});
