import { describe, expect, it } from '@jest/globals';
import type { DecideInput } from '../core/request.js';
import { INCLUDES } from '../core/request.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PAIRS, PLAIN } from '../../test/support/request-pairs.js';
import { answerKey } from './answer-key.js';
import type { Question } from './answer-memo.js';
import { AnswerMemo, partsOf, questionOf } from './answer-memo.js';

const TENANT = 't' as TenantId;
const POINT = { incarnation: 'i', revision: 7 };
const keyOf = (input: object): string => answerKey(TENANT, POINT, input as DecideInput, null, 'en');

describe('the name of a shared answer', () => {
  // The conversation enters by its state, which the last test changes; `minRevision` enters no answer.
  it.each(Object.entries(PAIRS).filter(([path]) => path !== 'conversationId'))('differs with %s', (path, [one, other]) => {
    if (path === 'minRevision') expect(keyOf(one)).toBe(keyOf(other));
    else expect(keyOf(one)).not.toBe(keyOf(other));
  });

  it('is one for the same question in other words', () => {
    const words = [{ agentId: 'm', include: [...INCLUDES].reverse(), context: null }, { context: {}, include: INCLUDES, agentId: 'm', select: null, view: 'all', nativeDeferral: false, toolLoading: null }];
    expect(words.map(keyOf)).toEqual([keyOf(PLAIN), keyOf(PLAIN)]);
  });

  it('keeps apart what a condition might', () => {
    const attributes = [{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: '1', b: 2 }, {}].map((one) => keyOf({ agentId: 'm', context: { attributes: one } }));
    expect(new Set(attributes).size).toBe(4);
    const zeros = [{ a: 0, b: 0 }, { a: -0, b: 0 }, { a: 0, b: -0 }, { a: -0, b: -0 }].map((one) => keyOf({ agentId: 'm', context: { attributes: one } }));
    expect(new Set(zeros).size).toBe(4);
  });

  it('differs with tenant, incarnation, revision, state and language', () => {
    const input = { agentId: 'm' };
    const keys = [
      answerKey(TENANT, POINT, input, null, 'en'),
      answerKey('u' as TenantId, POINT, input, null, 'en'),
      answerKey(TENANT, { ...POINT, incarnation: 'j' }, input, null, 'en'),
      answerKey(TENANT, { ...POINT, revision: 8 }, input, null, 'en'),
      answerKey(TENANT, POINT, input, 'c:1', 'en'),
      answerKey(TENANT, POINT, input, 'c:2', 'en'),
      answerKey(TENANT, POINT, input, null, 'zh'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('a question', () => {
  it('tells what it was made of, whatever stands in the request', () => {
    for (const request of ['{}', '{"a":\n"b\n"}', '\n\n\n\n\n', '', 'ÿ']) {
      expect(partsOf(questionOf(TENANT, POINT, 'zh', request))).toEqual({ tenant: TENANT, ...POINT, language: 'zh', request });
    }
    expect(partsOf('t\ni\n7\nen\n{}' as Question).revision).toBe(7);
  });

  it('has an ETag for each state of its conversation and each build', () => {
    const question = questionOf(TENANT, POINT, 'en', '{}');
    const etags = [null, { id: 'c', version: '1' }, { id: 'c', version: '2' }].flatMap((state) => ['old', 'new'].map((build) => new AnswerMemo(1, build).etagOf(question, state)));
    expect(new Set(etags).size).toBe(6);
  });
});
