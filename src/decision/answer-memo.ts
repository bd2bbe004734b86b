import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Decision } from '../core/decision.js';
import type { PolicyView } from '../core/policy-view.js';
import type { Language } from '../core/reason.js';
import type { TenantId } from '../platform/tenant-id.js';

/** A decision ready to be sent again. */
export interface MemoisedAnswer {
  readonly body: Buffer;
  readonly etag: string;
  readonly revision: string;
  readonly outcome: 'ok' | 'empty';
  /** The conversation whose state entered it, and the version of that state; null = none. */
  readonly conversation: { readonly id: string; readonly version: string } | null;
}

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Whole answers of this process. Everything that enters a decision is in the key: the tenant and its incarnation, the
 * revision, the language, and the request as it came, to the letter; the state of a conversation stands beside the answer
 * as a version, and whoever finds the answer compares it. Only fresh answers are kept, never an error.
 */
export class AnswerMemo {
  private readonly answers = new LRUCache<string, MemoisedAnswer>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }, key) => body.length + key.length,
  });

  find(tenant: TenantId, view: PolicyView, language: Language, request: string): MemoisedAnswer | undefined {
    return this.answers.get(keyOf(tenant, view, language, request));
  }

  keep(tenant: TenantId, view: Pick<PolicyView, 'incarnation' | 'revision'>, language: Language, request: string, answer: MemoisedAnswer): void {
    this.answers.set(keyOf(tenant, view, language, request), answer);
  }
}

/** The request comes last and nothing before it can hold a line break, so no two questions share a key. */
const keyOf = (tenant: TenantId, { incarnation, revision }: Pick<PolicyView, 'incarnation' | 'revision'>, language: Language, request: string): string =>
  `${tenant}\n${incarnation}\n${revision}\n${language}\n${request}`;

/** The ETag is over the revision, the conversation's state and the whole question, not over the answer alone. */
export function memoisable(tenant: TenantId, decision: Decision, question: string, conversation: MemoisedAnswer['conversation']): MemoisedAnswer {
  const etag = createHash('sha256').update(`${tenant} ${decision.revision} ${conversation?.version ?? ''} ${question}`).digest('base64url');
  const outcome = decision.toolNames.length === 0 ? 'empty' : 'ok';
  return { body: Buffer.from(JSON.stringify(decision)), etag: `"${etag}"`, revision: String(decision.revision), outcome, conversation };
}
