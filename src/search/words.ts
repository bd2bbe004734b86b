/** How a text falls into words: identifiers by case, digits and separators, English by its stems, Chinese in runs. */
import { stemmer } from 'stemmer';

export interface Word {
  /** A run of Chinese characters, or one lower-case word of another script. */
  readonly text: string;
  readonly isHan: boolean;
  /** The whole of an identifier whose parts are words of their own: `readFile` beside `read` and `file`. */
  readonly isCompound: boolean;
}

/** In UTF-16 code units; what is longer is an id or noise, and its beginning tells it. */
const LONGEST_WORD = 40;
const MOST_PARTS = 4;

const RUNS = /\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}])+/gu;
const HAN = /^\p{Script=Han}/u;
const INSIDE = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

export function wordsOf(text: string): Word[] {
  return Array.from(text.normalize('NFKC').slice(0, text.length * 2).matchAll(RUNS), ([run]) => run).flatMap((run) => {
    if (HAN.test(run)) return [{ text: run, isHan: true, isCompound: false }];
    const parts = run.split(INSIDE);
    const words = parts.map((part) => ({ text: lower(part), isHan: false, isCompound: false }));
    return parts.length > 1 && parts.length <= MOST_PARTS ? [...words, { text: lower(run), isHan: false, isCompound: true }] : words;
  });
}

const lower = (word: string): string => word.toLowerCase().slice(0, LONGEST_WORD);

/** Plurals that no suffix rule finds. */
const IRREGULAR = new Map([
  ['indices', 'index'], ['matrices', 'matrix'], ['vertices', 'vertex'], ['appendices', 'appendix'], ['criteria', 'criterion'], ['analyses', 'analysis'],
  ['children', 'child'], ['people', 'person'], ['men', 'man'], ['women', 'woman'], ['mice', 'mouse'],
]);

const MEMO_SIZE = 50_000;
const memo = new Map<string, string>();

/** The same for every form of an English word; other words stay what they are, or nearly. */
export function stemOf(word: string): string {
  const known = memo.get(word);
  if (known !== undefined) return known;
  const stem = stemmer(IRREGULAR.get(word) ?? word);
  if (memo.size >= MEMO_SIZE) memo.clear();
  memo.set(word, stem);
  return stem;
}

/** The usual English list, with the ways to ask for something. Dropped from a query that has other words. */
const STOP_WORDS = new Set(('i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they '
  + 'them their theirs themselves what which who whom whose this that these those am is are was were be been being have has had having do does did doing a an '
  + 'the and but if or because as until while of at by for with about against between into through during before after above below to from up down in out on '
  + 'off over under again further then once here there when where why how all any both each few more most other some such no nor not only own same so than too '
  + 'very s t can will just don should now could would may might must shall want need please let want us via').split(' '));

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word);

/** Words of grammar, and the ways to ask for something. */
const CHINESE_STOP_WORDS = new Set([
  ...Array.from('的了和与及或在是我你他她它这那哪个些把被给往从到对向为以于中里上下着过吗呢吧啊呀么如请帮想要一份没会能可每各都也就还又再其并而之所等很最更多少几用让使将'),
  ...'怎么 什么 哪些 如何 可以 一个 一下 一些 一条 一份 我的 这个 那个 里面 有哪些 多少 进行 怎样 为什么 我想 帮我 请问 需要'.split(' '),
]);

export const isChineseStopWord = (word: string): boolean => CHINESE_STOP_WORDS.has(word);
