import { describe, expect, it } from '@jest/globals';
import { segment } from './segment.js';
import { stemOf, wordsOf } from './words.js';

const texts = (text: string): string[] => wordsOf(text).filter(({ isCompound }) => !isCompound).map(({ text: word }) => word);

describe('words', () => {
  it.each([
    ['readFile', ['read', 'file']],
    ['XMLHttpRequest', ['xml', 'http', 'request']],
    ['list_dir-entries.v2/all:now', ['list', 'dir', 'entries', 'v', '2', 'all', 'now']],
    ['ＳＱＬ　database', ['sql', 'database']],
    ['用gzip压缩文件', ['用', 'gzip', '压缩文件']],
    ['größe naïve', ['größe', 'naïve']],
    ['… !? 😀 \ud800', []],
    ['', []],
  ])('of %j', (text, want) => expect(texts(text)).toEqual(want));

  it('keep an identifier as a whole beside its parts', () => {
    expect(wordsOf('readFile').at(-1)).toEqual({ text: 'readfile', isHan: false, isCompound: true });
  });

  it('cut what is no word', () => expect(texts('x'.repeat(65_536))[0]).toHaveLength(40));

  it.each([['querying', 'queries'], ['indices', 'index'], ['deployed', 'deploying'], ['people', 'person']])('have one stem: %s, %s', (a, b) => expect(stemOf(a)).toBe(stemOf(b)));

  it.each(['__proto__', 'constructor', 'toString'])('may be called %s', (name) => expect(stemOf(name)).toEqual(expect.any(String)));
});

describe('a run of Chinese', () => {
  const known = new Set(['多维', '表格', '维表', '数据', '数据库', '库存']);
  it.each([
    ['多维表格', ['多维', '表格']],
    ['数据库', ['数据库']],
    ['飞书表格', ['飞', '书', '表格']],
    ['', []],
  ])('%s falls into the fewest words', (run, want) => expect(segment(run, (word) => known.has(word))).toEqual(want));
});
