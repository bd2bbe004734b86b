import { isChineseStopWord } from './words.js';

/** In characters. */
const LONGEST = 8;
/** An unknown character costs more than a word, so that the fewest and longest known words win. */
const COST = { word: 1, character: 1.6, lengthBonus: 0.002 } as const;

/** A run of Chinese characters as the fewest words that the dictionary knows; what it does not know stays single characters. */
export function segment(run: string, isKnown: (word: string) => boolean): string[] {
  const cost = new Float64Array(run.length + 1).fill(Infinity);
  const from = new Int32Array(run.length + 1);
  cost[0] = 0;
  for (let start = 0; start < run.length; start += 1) {
    for (let end = start + 1; end <= Math.min(run.length, start + LONGEST); end += 1) {
      const word = run.slice(start, end);
      if (word.length > 1 && !isKnown(word)) continue;
      const total = (cost[start] ?? Infinity) + costOf(word);
      if (total >= (cost[end] ?? Infinity)) continue;
      cost[end] = total;
      from[end] = start;
    }
  }
  const words: string[] = [];
  for (let end = run.length; end > 0; end = from[end] ?? 0) words.unshift(run.slice(from[end] ?? 0, end));
  return words;
}

const costOf = (word: string): number => {
  if (word.length > 1) return COST.word - COST.lengthBonus * word.length ** 2;
  return isChineseStopWord(word) ? COST.word : COST.character;
};
