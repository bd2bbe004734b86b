import { Injectable } from '@nestjs/common';
import { offersNothing } from '../core/decide.js';
import type { CheckAnswer } from '../core/decision.js';
import type { PolicyView } from '../core/policy-view.js';
import type { Language } from '../core/reason.js';
import { isNamedIn } from '../platform/errors/etag.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { Tally } from '../platform/observability/tallies.js';
import { Tracing } from '../platform/observability/tracing.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { MemoisedAnswer, WrittenAnswer } from './answer-memo.js';
import { AnswerMemo, questionOf } from './answer-memo.js';
import type { ColdAnswer } from './cold-answers.js';
import type { Decided } from './decision.service.js';
import { OutcomeMemo } from './outcome-memo.js';

/** The answer to one decide request as it is sent. */
export interface Answer {
  readonly status: 200 | 304;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Null where the caller has it. */
  readonly body: Buffer | null;
  readonly outcome: 'ok' | 'empty' | 'not_modified';
  readonly revision: string;
  /** The whole answer, also where it is not sent: in bytes, or what they would be written from. */
  readonly content: Buffer | Decided;
}

/** What of a request makes its answer, beside the policy. */
export interface Asked {
  readonly language: Language;
  /** The body, byte for byte. */
  readonly text: string;
  readonly ifNoneMatch: string | undefined;
}

/** Whether a conversation is still in this state. */
export type IsCurrent = (conversation: NonNullable<MemoisedAnswer['conversation']>) => boolean;

/** Turns decisions into answers, on whichever road, and gives those again that were given before. */
@Injectable()
export class Answers {
  private readonly hits: Tally;
  private readonly misses: Tally;

  constructor(
    private readonly memo: AnswerMemo,
    private readonly outcomes: OutcomeMemo,
    { cacheRequests }: Metrics,
    tracing: Tracing,
  ) {
    const tally = (outcome: 'hit' | 'miss'): Tally => tracing.told(cacheRequests.of('answer', outcome), 'cache', { 'toolcrib.cache.level': 'answer', 'toolcrib.cache.outcome': outcome });
    this.hits = tally('hit');
    this.misses = tally('miss');
  }

  /** Null where the answer has to be worked out. */
  again(tenant: TenantId, view: PolicyView, { language, text, ifNoneMatch }: Asked, isCurrent: IsCurrent): Answer | null {
    const question = questionOf(tenant, view, language, text);
    const known = this.memo.find(question);
    if (known === undefined || (known.conversation !== null && !isCurrent(known.conversation))) {
      this.misses.inc();
      return null;
    }
    this.hits.inc();
    this.memo.noteHit(question);
    return isNamedIn(ifNoneMatch, known.etag) ? notModified(known, known.body) : whole(known);
  }

  /** Made by another replica. */
  shared(tenant: TenantId, { body, outcome, conversation, ...point }: ColdAnswer, { language, text, ifNoneMatch }: Asked): Answer {
    const etag = this.memo.etagOf(questionOf(tenant, point, language, text), conversation);
    const answer = { body, etag, revision: String(point.revision), outcome };
    return isNamedIn(ifNoneMatch, etag) ? notModified(answer, body) : whole(answer);
  }

  of(tenant: TenantId, decided: Decided, { language, text, ifNoneMatch }: Asked, conversationId: string | null | undefined): Answer {
    const { isSettled, ground: { view, conversation } } = decided;
    const revision = String(view.revision);
    const outcome = offersOf(decided);
    if (!isSettled) return whole({ body: this.outcomes.write(tenant, decided), etag: null, revision, outcome });
    const question = questionOf(tenant, view, language, text);
    const state = conversation && { id: conversationId ?? '', version: conversation.version };
    const etag = this.memo.etagOf(question, state);
    const isKept = this.memo.isAskedAgain(etag);
    const isHad = isNamedIn(ifNoneMatch, etag);
    if (isHad && !isKept) return notModified({ etag, revision }, decided);
    const answer = { body: this.outcomes.write(tenant, decided), etag, revision, outcome, conversation: state } as const;
    if (isKept) this.memo.keep(question, answer);
    return isHad ? notModified(answer, answer.body) : whole(answer);
  }
}

/** Whether anything is offered, in the word that metrics and logs have for it. */
export const offersOf = ({ judgement }: Decided): WrittenAnswer['outcome'] => (offersNothing(judgement) ? 'empty' : 'ok');

/** Bytes as they are, without a second look at them by the framework. */
function whole({ body, etag, revision, outcome }: WrittenAnswer): Answer {
  const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length), 'x-toolcrib-revision', revision];
  if (etag !== null) headers.push('etag', etag);
  return { status: 200, headers, body, outcome, revision, content: body };
}

function notModified({ etag, revision }: Pick<MemoisedAnswer, 'etag' | 'revision'>, content: Answer['content']): Answer {
  return { status: 304, headers: ['x-toolcrib-revision', revision, 'etag', etag], body: null, outcome: 'not_modified', revision, content };
}

/** The answer to a check, as the framework would write it. */
export function checkAsSent(answer: CheckAnswer): Pick<Answer, 'headers'> & { readonly status: 200; readonly body: Buffer } {
  const body = Buffer.from(JSON.stringify(answer));
  return { status: 200, headers: ['x-toolcrib-revision', String(answer.revision), 'content-type', 'application/json; charset=utf-8', 'content-length', String(body.length)], body };
}
