import { describe, expect, it } from '@jest/globals';
import { LOCKED, STATES } from '../../src/core/agent-state.js';
import { ALLOWED_MESSAGE, NOT_FOUND_YET, PARENT_SUBAGENTS_OFF, REASONS, wordsOf } from '../../src/core/reason.js';
import type { Words } from '../../src/core/reason.js';
import { ERRORS } from '../../src/platform/errors/app-error.js';

const GLOBAL_STOP = { en: /\bstop/iu, zh: /停用/u };
const LOCAL_ACTION = { en: /\bclose/iu, zh: /关闭/u };

const told: readonly (readonly [what: string, words: Words])[] = [
  ...Object.entries({ ...STATES, ...REASONS }),
  ['LOCKED', LOCKED.words],
  ['SUBAGENTS_OFF of the parent', wordsOf(PARENT_SUBAGENTS_OFF)],
  ['TOOL_NOT_LOADED by search', wordsOf(NOT_FOUND_YET)],
  ['OK', ALLOWED_MESSAGE],
  ...Object.entries(ERRORS).map(([code, { title }]) => [code, { en: title, zh: '' }] as const),
];

describe('the words of a global stop and of a local action', () => {
  it.each(told)('%s uses at most its own', (what, words) => {
    const isGlobal = what.toLowerCase() === 'globally_disabled';
    for (const language of ['en', 'zh'] as const) {
      if (words[language] === '') continue;
      expect({ words: words[language], global: GLOBAL_STOP[language].test(words[language]) }).toEqual({ words: words[language], global: isGlobal });
      if (isGlobal) expect(words[language]).not.toMatch(LOCAL_ACTION[language]);
    }
  });

  it('each state has a label of its own in each language', () => {
    for (const language of ['en', 'zh'] as const) expect(new Set(Object.values(STATES).map((words) => words[language])).size).toBe(Object.keys(STATES).length);
  });
});
