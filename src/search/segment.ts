import { isChineseStopWord } from './words.js';

/** In characters. */
const LONGEST = 8;
/** An unknown character costs more than a word, so that the fewest and longest known words win. */
const COST = { word: 1, character: 1.6, lengthBonus: 0.002 } as const;

interface Way {
  readonly cost: number;
  /** The last word of it. */
  readonly word: string;
}

/** A run of Chinese characters as the fewest words that the dictionary knows; what it does not know stays single characters. */
export function segment(run: string, isKnown: (word: string) => boolean): string[] {
  const ways: Way[] = [{ cost: 0, word: '' }];
  for (let end = 1; end <= run.length; end += 1) ways.push(cheapest(run, end, ways, isKnown));
  const words: string[] = [];
  for (let end = run.length; end > 0; end -= words.at(-1)?.length ?? end) words.push(ways[end]?.word ?? '');
  return words.reverse();
}

/** To cut the run up to `end`, with the ways to all places before it. */
function cheapest(run: string, end: number, ways: readonly Way[], isKnown: (word: string) => boolean): Way {
  let best: Way = { cost: Infinity, word: '' };
  for (let start = Math.max(0, end - LONGEST); start < end; start += 1) {
    const word = run.slice(start, end);
    if (word.length > 1 && !isKnown(word)) continue;
    const cost = (ways[start]?.cost ?? Infinity) + costOf(word);
    if (cost < best.cost) best = { cost, word };
  }
  return best;
}

const costOf = (word: string): number => {
  if (word.length > 1) return COST.word - COST.lengthBonus * word.length ** 2;
  return isChineseStopWord(word) ? COST.word : COST.character;
};
