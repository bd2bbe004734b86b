import { readFile } from 'node:fs/promises';
import { Pace } from './pace.js';
import { segment } from './segment.js';
import { isChineseStopWord } from './words.js';

/** A stem, and how sure it is that it means the same: above 0, at most 1. */
export type Sense = readonly [stem: string, sure: number];

const FOLDER = new URL('../../data/glossary/', import.meta.url);
const LINES_A_STEP = 500;

/** What Chinese words mean in English, and which English words mean nearly the same: `data/glossary`, made from published dictionaries. */
export class Glossary {
  constructor(
    private readonly chinese: ReadonlyMap<string, string>,
    private readonly english: ReadonlyMap<string, string>,
    private readonly traditional: ReadonlyMap<string, string>,
  ) {}

  /** A run of Chinese characters as words, in simplified characters, without those of grammar alone. */
  chineseWords(run: string): string[] {
    const simplified = Array.from(run, (character) => this.traditional.get(character) ?? character).join('');
    const words = segment(simplified, (word) => this.chinese.has(word));
    const telling = words.filter((word) => !isChineseStopWord(word));
    return telling.length > 0 ? telling : words;
  }

  sensesOf(chineseWord: string): Sense[] {
    return sensesIn(this.chinese.get(chineseWord));
  }

  synonymsOf(stem: string): Sense[] {
    return sensesIn(this.english.get(stem));
  }
}

/** `stem percent stem percent …` */
function sensesIn(line: string | undefined): Sense[] {
  if (line === undefined) return [];
  const cells = line.split(' ');
  return Array.from({ length: Math.floor(cells.length / 2) }, (_, i) => [cells[2 * i] ?? '', Number(cells[2 * i + 1]) / 100] as const);
}

/** Reads the files; what it makes of their 6 MB stays in memory, some 40 MB. */
export async function loadGlossary(folder = FOLDER): Promise<Glossary> {
  const [chinese, english, traditional] = await Promise.all(['chinese.txt', 'english.txt', 'traditional.txt'].map((file) => readFile(new URL(file, folder), 'utf8')));
  const [from = [], to = []] = (traditional ?? '').split('\n').map((line) => Array.from(line));
  return new Glossary(await tableOf(chinese ?? ''), await tableOf(english ?? ''), new Map(from.map((character, i) => [character, to[i] ?? character])));
}

async function tableOf(text: string): Promise<Map<string, string>> {
  const table = new Map<string, string>();
  const pace = new Pace();
  for (let start = 0; start < text.length;) {
    const tab = text.indexOf('\t', start);
    const end = text.indexOf('\n', tab);
    table.set(text.slice(start, tab), text.slice(tab + 1, end));
    start = end + 1;
    if (table.size % LINES_A_STEP === 0) await pace.step();
  }
  return table;
}
