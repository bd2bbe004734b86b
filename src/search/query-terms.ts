import type { Glossary, Sense } from './glossary.js';
import { chineseTerms } from './term-index.js';
import type { Word } from './words.js';
import { isStopWord, stemOf, wordsOf } from './words.js';

/** One thing that is asked for: a term, and others that may stand for it. */
export interface Wanted {
  readonly term: string;
  /** How much it counts beside the other things of the query. */
  readonly weight: number;
  readonly others: readonly Sense[];
  /** Whether the term may be the beginning of a longer one, or misspelled. */
  readonly isSpelled: boolean;
}

/** What is read of a query; the rest of a longer one has no effect. */
const MOST = { characters: 1_000, wanted: 32 } as const;
/** What an identifier as a whole counts beside its parts, and a lone character beside a word. */
const WEIGHT = { compound: 0.3, character: 0.6 } as const;

/** What a query asks for; nothing where it has no word. */
export function readQuery(query: string, glossary: Glossary): Wanted[] {
  const words = wordsOf(query.slice(0, MOST.characters));
  const telling = words.filter(({ text, isHan }) => isHan || !isStopWord(text));
  return (telling.length > 0 ? telling : words).flatMap((word) => (word.isHan ? chinese(word.text, glossary) : [spelled(word, glossary)])).slice(0, MOST.wanted);
}

function spelled({ text, isCompound }: Word, glossary: Glossary): Wanted {
  const term = stemOf(text);
  return { term, weight: isCompound ? WEIGHT.compound : 1, others: glossary.synonymsOf(term), isSpelled: true };
}

const chinese = (run: string, glossary: Glossary): Wanted[] => chineseTerms(run, glossary).map((term) => ({
  term, weight: term.length === 1 ? WEIGHT.character : 1, others: glossary.sensesOf(term), isSpelled: false,
}));
