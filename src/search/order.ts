import type { Ranked, SearchDocument } from '../core/search.js';

/** By place: 1 where the document may be found. */
export function marksOf(documents: readonly SearchDocument[], among: ReadonlySet<string>): Uint8Array {
  const marks = new Uint8Array(documents.length);
  let place = 0;
  for (const { name } of documents) {
    if (among.has(name)) marks[place] = 1;
    place += 1;
  }
  return marks;
}

/** Best first: the tool whose very name is the query, then by score, then by place. Only what matches. */
export function inOrder(documents: readonly SearchDocument[], scores: Float64Array, query: string, isAmong: Uint8Array): Ranked[] {
  const name = query.trim();
  const named = documents.findIndex((document, place) => document.name === name && isAmong[place] === 1);
  if (named >= 0) scores[named] = scores.reduce((best, score) => Math.max(best, score), 0) + 1;
  const places: number[] = [];
  for (let place = 0; place < scores.length; place += 1) if ((scores[place] ?? 0) > 0) places.push(place);
  places.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  return places.map((place) => ({ name: documents[place]?.name ?? '', score: scores[place] ?? 0 }));
}
