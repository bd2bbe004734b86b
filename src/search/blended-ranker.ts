import type { Ranked, SearchDocument } from '../core/search.js';
import { within } from '../platform/errors/within.js';
import type { EmbeddingProvider } from './embedding-provider.js';
import { inOrder, marksOf } from './order.js';
import { ToolRanker } from './tool-ranker.js';

type Vector = readonly number[];

const MOST = { texts: 64, characters: 2_000 } as const;
const TIMEOUT_MS = { query: 300, documents: 30_000 } as const;
/** How much the vectors say of a score, and how alike a tool without a word in common must be to be found. */
const BLEND = { vectors: 0.5, leastAlike: 0.5 } as const;

/**
 * Words and an operator's vectors together. Until the vectors of the documents are there, and whenever the provider fails or
 * is slow, words alone decide.
 */
export class BlendedRanker extends ToolRanker {
  private readonly vectors = new WeakMap<readonly SearchDocument[], { ready: readonly Vector[] | null }>();

  constructor(private readonly words: ToolRanker, private readonly provider: EmbeddingProvider) {
    super();
  }

  prepare(documents: readonly SearchDocument[]): void {
    this.words.prepare(documents);
    this.vectorsOf(documents);
  }

  async rank(documents: readonly SearchDocument[], query: string, among: ReadonlySet<string>): Promise<readonly Ranked[]> {
    const vectors = this.vectorsOf(documents);
    const text = query.trim().slice(0, MOST.characters);
    const [byWords, asked] = await Promise.all([this.words.rank(documents, query, among), vectors === null || text === '' ? null : this.ask(text)]);
    return vectors === null || asked === null ? byWords : blend(documents, byWords, query, among, vectors.map((vector) => likeness(asked, vector)));
  }

  private async ask(query: string): Promise<Vector | null> {
    const [vector] = await this.embed([query], TIMEOUT_MS.query).catch(() => []);
    return vector ?? null;
  }

  /** Null until they are there; begins to fetch them. */
  private vectorsOf(documents: readonly SearchDocument[]): readonly Vector[] | null {
    const known = this.vectors.get(documents);
    if (known !== undefined) return known.ready;
    const state: { ready: readonly Vector[] | null } = { ready: null };
    this.vectors.set(documents, state);
    this.embedAll(documents).then((ready) => (state.ready = ready), () => this.vectors.delete(documents));
    return null;
  }

  private async embedAll(documents: readonly SearchDocument[]): Promise<Vector[]> {
    const vectors: Vector[] = [];
    while (vectors.length < documents.length) {
      const batch = documents.slice(vectors.length, vectors.length + MOST.texts);
      vectors.push(...await this.embed(batch.map(({ name, label, description }) => `${name}\n${label}\n${description}`.slice(0, MOST.characters)), TIMEOUT_MS.documents));
    }
    return vectors;
  }

  private async embed(texts: readonly string[], timeoutMs: number): Promise<readonly Vector[]> {
    const vectors = await within(timeoutMs, this.provider.embed(texts));
    if (vectors.length !== texts.length) throw new Error('the embedding provider did not give one vector for each text');
    return vectors;
  }
}

function blend(documents: readonly SearchDocument[], byWords: readonly Ranked[], query: string, among: ReadonlySet<string>, alike: readonly number[]): Ranked[] {
  const isAmong = marksOf(documents, among);
  const scores = new Map(byWords.map(({ name, score }) => [name, score]));
  // The very name has a score of its own, which is no measure for the others.
  const best = byWords.reduce((most, { name, score }) => (name === query.trim() ? most : Math.max(most, score)), 0) || 1;
  const blended = Float64Array.from(documents, ({ name }, i) => {
    const near = alike[i] ?? 0;
    const byWord = Math.min(1, (scores.get(name) ?? 0) / best);
    const isFound = isAmong[i] === 1 && (byWord > 0 || near >= BLEND.leastAlike);
    return isFound ? (1 - BLEND.vectors) * byWord + BLEND.vectors * near : 0;
  });
  return inOrder(documents, blended, query, isAmong);
}

/** The cosine, or 0 where it is negative or is none. */
function likeness(a: Vector, b: Vector): number {
  let [product, lengthA, lengthB] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  const cosine = a.length === b.length ? product / Math.sqrt(lengthA * lengthB) : 0;
  return Number.isFinite(cosine) ? Math.max(0, cosine) : 0;
}
