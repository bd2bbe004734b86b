import type { Ranked, SearchDocument } from '../core/search.js';

/** Best first: the tool whose very name is the query, then by score, then by place. Only what matches. */
export function inOrder(documents: readonly SearchDocument[], scores: Float64Array, query: string, isAmong: Uint8Array): Ranked[] {
  const named = query.trim();
  const places: number[] = [];
  let best = 0;
  for (let place = 0; place < scores.length; place += 1) {
    const score = scores[place] ?? 0;
    if (score > best) best = score;
    if (score > 0 || (isAmong[place] === 1 && documents[place]?.name === named)) places.push(place);
  }
  const scoreAt = (place: number): number => (documents[place]?.name === named ? best + 1 : scores[place] ?? 0);
  return places.sort((a, b) => scoreAt(b) - scoreAt(a) || a - b).map((place) => ({ name: documents[place]?.name ?? '', score: scoreAt(place) }));
}
