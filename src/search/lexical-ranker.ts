import type { Ranked, SearchDocument } from '../core/search.js';
import type { Glossary, Sense } from './glossary.js';
import { loadGlossary } from './glossary.js';
import { inOrder, marksOf } from './order.js';
import { Pace } from './pace.js';
import { readQuery } from './query-terms.js';
import type { Wanted } from './query-terms.js';
import { TermIndex } from './term-index.js';
import { ToolRanker } from './tool-ranker.js';

/** How soon a term's further mentions count less (BM25's k1). */
const SATURATION = 1.2;
/** What a longer term counts at most for its beginning, and a misspelled one with one letter wrong. */
const SPELLING = { beginning: 0.5, misspelled: 0.6, leastBeginning: 3, leastMisspelled: 4, long: 8 } as const;

interface Index {
  readonly terms: TermIndex;
  readonly glossary: Glossary;
}

/** BM25F over the words of a tool, where a word of the query also finds its translations, synonyms, longer forms and small typos. */
export class LexicalRanker extends ToolRanker {
  private readonly indexes = new WeakMap<readonly SearchDocument[], Promise<Index>>();
  private glossary: Promise<Glossary> | null = null;

  constructor(private readonly load: () => Promise<Glossary> = loadGlossary) {
    super();
  }

  async rank(documents: readonly SearchDocument[], query: string, among: ReadonlySet<string>): Promise<readonly Ranked[]> {
    const { terms, glossary } = await this.indexOf(documents);
    const isAmong = marksOf(documents, among);
    return inOrder(documents, new Scoring(terms, isAmong).scores(readQuery(query, glossary)), query, isAmong);
  }

  prepare(documents: readonly SearchDocument[]): void {
    // Whoever ranks next tries again, and is told.
    this.indexOf(documents).catch(() => undefined);
  }

  private indexOf(documents: readonly SearchDocument[]): Promise<Index> {
    const known = this.indexes.get(documents);
    if (known !== undefined) return known;
    const building = this.build(documents);
    this.indexes.set(documents, building);
    building.catch(() => this.indexes.delete(documents));
    return building;
  }

  private async build(documents: readonly SearchDocument[]): Promise<Index> {
    const glossary = await this.loadedGlossary();
    return { glossary, terms: await TermIndex.build(documents, glossary, new Pace()) };
  }

  private loadedGlossary(): Promise<Glossary> {
    this.glossary ??= this.load().catch((error: unknown) => {
      this.glossary = null;
      throw error;
    });
    return this.glossary;
  }
}

/** One query over one index. */
class Scoring {
  /** What the thing that is being looked for has earned each document; 0 again before the next one. */
  private readonly best: Float64Array;

  constructor(private readonly terms: TermIndex, private readonly isAmong: Uint8Array) {
    this.best = new Float64Array(terms.size);
  }

  /** By the documents' places; 0 where nothing matches. Each thing wanted counts once, by the best of what stands for it. */
  scores(wanted: readonly Wanted[]): Float64Array {
    const total = new Float64Array(this.terms.size);
    for (const one of wanted) {
      const raised: number[] = [];
      for (const [term, sure] of this.standingFor(one)) this.raise(raised, term, sure);
      for (const place of raised) {
        total[place] = (total[place] ?? 0) + (this.best[place] ?? 0) * one.weight;
        this.best[place] = 0;
      }
    }
    return total;
  }

  private raise(raised: number[], term: string, sure: number): void {
    const found = this.terms.find(term);
    if (found === undefined) return;
    const { documents, weights } = found;
    const most = sure * (SATURATION + 1) * Math.log(1 + (this.terms.size - documents.length + 0.5) / (documents.length + 0.5));
    for (let i = 0; i < documents.length; i += 1) {
      const place = documents[i] ?? 0;
      if (this.isAmong[place] === 0) continue;
      const weight = weights[i] ?? 0;
      const score = (most * weight) / (SATURATION + weight);
      const before = this.best[place] ?? 0;
      if (before === 0) raised.push(place);
      if (score > before) this.best[place] = score;
    }
  }

  private standingFor({ term, others, isSpelled }: Wanted): Sense[] {
    return isSpelled ? [[term, 1], ...others, ...this.longer(term), ...this.misspelled(term)] : [[term, 1], ...others];
  }

  private longer(term: string): Sense[] {
    if (term.length < SPELLING.leastBeginning) return [];
    return Array.from(this.terms.beginningWith(term), (longer) => [longer, (SPELLING.beginning * term.length) / longer.length]);
  }

  /** Only for a word that is nowhere in what may be found: whether it stands elsewhere must not show. */
  private misspelled(term: string): Sense[] {
    if (term.length < SPELLING.leastMisspelled || this.standsAmong(term)) return [];
    const near = this.terms.nearly(term, term.length < SPELLING.long ? 1 : 2)
      .filter(([other, distance]) => distance > 0 && other.startsWith(term.charAt(0)))
      .map(([other, distance]) => [other, SPELLING.misspelled / distance] as const);
    return [...swappedIn(term).map((other) => [other, SPELLING.misspelled] as const), ...near];
  }

  private standsAmong(term: string): boolean {
    return this.terms.find(term)?.documents.some((place) => this.isAmong[place] === 1) ?? false;
  }
}

/** Each with two neighbours the other way round, which is one slip of the fingers and not two. */
const swappedIn = (term: string): string[] => Array.from({ length: term.length - 1 }, (_, i) => `${term.slice(0, i)}${term.charAt(i + 1)}${term.charAt(i)}${term.slice(i + 2)}`);
