import SearchableMap from 'minisearch/SearchableMap';
import type { SearchDocument } from '../core/search.js';
import type { Glossary } from './glossary.js';
import type { Pace } from './pace.js';
import { stemOf, wordsOf } from './words.js';

interface Field {
  readonly textOf: (document: SearchDocument) => string;
  readonly weight: number;
  /** How much a long text counts less for each of its words: 0 not at all, 1 in full. */
  readonly dilution: number;
}

const FIELDS: readonly Field[] = [
  { textOf: nameWithin, weight: 3, dilution: 0.3 },
  { textOf: ({ label }) => label, weight: 2, dilution: 0.3 },
  { textOf: ({ keywords }) => keywords.join('\n'), weight: 3, dilution: 0.3 },
  { textOf: ({ description }) => description, weight: 1.5, dilution: 0.8 },
  { textOf: ({ toolset, source, category }) => [...new Set([toolset, source, category ?? ''])].join('\n'), weight: 1, dilution: 0 },
  { textOf: ({ parameters }) => parameters.map(({ name }) => name).join('\n'), weight: 0.7, dilution: 0.6 },
  { textOf: ({ parameters }) => parameters.map(({ description }) => description).join('\n'), weight: 0.4, dilution: 0.7 },
];

/** The name without its group, which is a field of its own. */
function nameWithin({ name, toolset, source }: SearchDocument): string {
  const group = [toolset, source].find((prefix) => prefix !== '' && name.startsWith(`${prefix}/`));
  return group === undefined ? name : name.slice(group.length + 1);
}

/** What a translated word counts beside the same word in the text itself. */
const TRANSLATED = 0.5;

/** Where a term stands: documents by their place, ascending, and how much of each the term is. */
export interface Postings {
  readonly documents: readonly number[];
  readonly weights: readonly number[];
}

interface Counted {
  /** By term. */
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** The terms of all documents: where each stands, which begin alike, and which are spelled nearly so. */
export class TermIndex {
  private readonly postings = new Map<string, { documents: number[]; weights: number[] }>();
  private readonly spellings = new SearchableMap<true>();

  private constructor(readonly size: number) {}

  static async build(documents: readonly SearchDocument[], glossary: Glossary, pace: Pace): Promise<TermIndex> {
    const index = new TermIndex(documents.length);
    const counted: Counted[][] = [];
    for (const document of documents) {
      const fields: Counted[] = [];
      for (const { textOf } of FIELDS) {
        fields.push(countTerms(textOf(document), glossary));
        await pace.step();
      }
      counted.push(fields);
    }
    const usual = FIELDS.map((_, f) => meanLength(counted, f));
    for (const [place, fields] of counted.entries()) {
      index.add(place, fields, usual);
      await pace.step();
    }
    for (const term of index.postings.keys()) {
      if (!HAN.test(term)) index.spellings.set(term, true);
      await pace.step();
    }
    return index;
  }

  find(term: string): Postings | undefined {
    return this.postings.get(term);
  }

  beginningWith(prefix: string): Iterable<string> {
    return this.spellings.atPrefix(prefix).keys();
  }

  /** Terms at most `edits` letters away, each with its distance. */
  nearly(term: string, edits: number): [term: string, distance: number][] {
    return Array.from(this.spellings.fuzzyGet(term, edits), ([near, [, distance]]) => [near, distance]);
  }

  private add(place: number, fields: readonly Counted[], usual: readonly number[]): void {
    const total = new Map<string, number>();
    for (const [f, { weight, dilution }] of FIELDS.entries()) {
      const { counts = new Map<string, number>(), length = 0 } = fields[f] ?? {};
      const share = weight / (1 - dilution + (dilution * length) / (usual[f] ?? 1));
      for (const [term, count] of counts) total.set(term, (total.get(term) ?? 0) + count * share);
    }
    for (const [term, weight] of total) {
      let found = this.postings.get(term);
      if (found === undefined) this.postings.set(term, (found = { documents: [], weights: [] }));
      found.documents.push(place);
      found.weights.push(weight);
    }
  }
}

const HAN = /^\p{Script=Han}/u;

/** Over the documents that have the field at all. */
function meanLength(counted: readonly (readonly Counted[])[], field: number): number {
  const lengths = counted.map((fields) => fields[field]?.length ?? 0).filter((length) => length > 0);
  return lengths.length === 0 ? 1 : lengths.reduce((a, b) => a + b, 0) / lengths.length;
}

function countTerms(text: string, glossary: Glossary): Counted {
  const counts = new Map<string, number>();
  const han = new Map<string, number>();
  let length = 0;
  for (const { text: word, isHan } of wordsOf(text)) {
    const terms = isHan ? chineseTerms(word, glossary) : [stemOf(word)];
    length += terms.length;
    for (const term of terms) count(isHan ? han : counts, term, 1);
  }
  for (const [term, times] of han) {
    count(counts, term, times);
    for (const [stem, sure] of glossary.sensesOf(term)) count(counts, stem, times * sure * TRANSLATED);
  }
  return { counts, length };
}

const count = (counts: Map<string, number>, term: string, by: number): void => void counts.set(term, (counts.get(term) ?? 0) + by);

/** The words of a run, and the pairs of neighbours that are no word of the glossary: names, mostly. */
export function chineseTerms(run: string, glossary: Glossary): string[] {
  const words = glossary.chineseWords(run);
  const pairs = words.flatMap((word, i) => (word.length === 1 && words[i + 1]?.length === 1 ? [`${word}${words[i + 1] ?? ''}`] : []));
  return [...words, ...pairs];
}
