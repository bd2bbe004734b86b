import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PolicyPoint } from '../core/policy-view.js';
import type { Language } from '../core/reason.js';
import type { TenantId } from '../platform/tenant-id.js';
import { AskedBefore } from './asked-before.js';

/** A decision ready to be sent. */
export interface WrittenAnswer {
  readonly body: Buffer;
  /** Null for one that may be another at once: it stands for nothing. */
  readonly etag: string | null;
  readonly revision: string;
  readonly outcome: 'ok' | 'empty';
}

/** A settled one, ready to be sent again. */
export interface MemoisedAnswer extends WrittenAnswer {
  readonly etag: string;
  /** The conversation whose state entered it, and the version of that state; null = none. */
  readonly conversation: { readonly id: string; readonly version: string } | null;
}

declare const questionBrand: unique symbol;

/** Everything that enters a decision but the state of a conversation, as one text. */
export type Question = string & { readonly [questionBrand]: true };

/** The request comes last and nothing before it can hold a line break, so no two questions are the same text. */
export const questionOf = (tenant: TenantId, { incarnation, revision }: PolicyPoint, language: Language, request: string): Question =>
  `${tenant}\n${incarnation}\n${revision}\n${language}\n${request}` as Question;

/** What a question was made of. */
export interface QuestionParts extends PolicyPoint {
  readonly tenant: TenantId;
  readonly language: Language;
  readonly request: string;
}

export function partsOf(question: Question): QuestionParts {
  const [tenant = '', incarnation = '', revision, language] = question.split('\n', 4);
  const request = question.slice([tenant, incarnation, revision, language].join('\n').length + 1);
  return { tenant: tenant as TenantId, incarnation, revision: Number(revision), language: language as Language, request };
}

/** Told of each time that a kept answer was found; `hits` is 1 for the first. */
export type HitListener = (question: Question, answer: MemoisedAnswer, hits: number) => void;

interface Kept {
  readonly answer: MemoisedAnswer;
  hits: number;
}

/** What an entry takes beside its bytes. */
const ENTRY_BYTES = 500;

/** A small buffer is a slice of a large one, which it would keep with it. */
export function ownBytes(body: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}

/**
 * Whole answers of this process. Everything that enters a decision is in the question: the tenant and its incarnation, the
 * revision, the language, and the request as it came, byte for byte; the state of a conversation stands beside the answer
 * as a version, and whoever finds the answer compares it. Only settled answers are kept, never an error, and only when their
 * question comes a second time: most contexts never do, and answers that nobody asks for again would put out those that are.
 */
export class AnswerMemo {
  private readonly kept: LRUCache<Question, Kept>;
  private readonly before = new AskedBefore();
  private readonly listeners: HitListener[] = [];

  constructor(
    maxBytes: number,
    private readonly build = '',
  ) {
    this.kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ answer: { body } }, question) => body.length + question.length + ENTRY_BYTES });
  }

  /**
   * Over the whole question, the conversation's state and the build, not over the answer: what follows from them alone. Another
   * build may answer otherwise, and a caller that still has what this one mended must not be told to keep it.
   */
  etagOf(question: Question, conversation: MemoisedAnswer['conversation']): string {
    return `"${hash('sha256', `${this.build}\n${conversation?.version ?? ''}\n${question}`, 'base64url')}"`;
  }

  find(question: Question): MemoisedAnswer | undefined {
    return this.kept.get(question)?.answer;
  }

  /** What was found is answered: its conversation is still in the state that it was made from. */
  noteHit(question: Question): void {
    const kept = this.listeners.length === 0 ? undefined : this.kept.peek(question);
    if (kept === undefined) return;
    kept.hits += 1;
    for (const listener of this.listeners) listener(question, kept.answer, kept.hits);
  }

  /** Whether an answer with this ETag is worth keeping, which it is from its second time on. */
  isAskedAgain(etag: string): boolean {
    return this.before.isAgain(etag.slice(1, -1));
  }

  keep(question: Question, answer: MemoisedAnswer): void {
    this.kept.set(question, { answer: { ...answer, body: ownBytes(answer.body) }, hits: 0 });
  }

  onHit(listener: HitListener): void {
    this.listeners.push(listener);
  }
}
