import { Inject, Injectable } from '@nestjs/common';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { readJson, textAsBytes } from '../platform/http/json-body.js';
import type { MemoisedAnswer, Question } from './answer-memo.js';
import { AnswerMemo, partsOf } from './answer-memo.js';
import { answerKey } from './answer-key.js';
import { AnswerStore } from './answer.store.js';
import { RequestReader } from './request-reader.js';

/** Hands on to other replicas what is asked again and again: an answer is shared when it is first found in the memo, and never before. */
@Injectable()
export class SharedAnswering {
  constructor(
    memo: AnswerMemo,
    private readonly store: AnswerStore,
    private readonly reader: RequestReader,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {
    if (!store.isThere) return;
    memo.onHit((question, answer, hits) => {
      if (hits === 1) this.share(question, answer);
    });
  }

  /** The request is one that was read before, so it is read without a fault. */
  private share(question: Question, answer: MemoisedAnswer): void {
    const { tenant, language, request, ...point } = partsOf(question);
    const input = this.reader.readDecide(readJson(textAsBytes(request), this.limits.jsonDepth));
    this.store.keep(answerKey(tenant, point, input, answer.conversation?.version ?? null, language), answer);
  }
}
