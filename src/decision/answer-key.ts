import { createHash } from 'node:crypto';
import type { PolicyPoint } from '../core/policy-view.js';
import type { Language } from '../core/reason.js';
import type { DecideInput } from '../core/request.js';
import { readDecideRequest } from '../core/request.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { AnswerKey } from './answer.store.js';

/**
 * Everything that enters a decision, in one spelling: members that are absent, null or default are the same question. Objects
 * of any shape stay as they came, for a condition may see the order of their members.
 */
export function answerKey(tenant: TenantId, { incarnation, revision }: PolicyPoint, input: DecideInput, conversationVersion: string | null, language: Language): AnswerKey {
  const { include, ...request } = readDecideRequest(input);
  const minusZeros: number[] = [];
  let visited = 0;
  // JSON writes -0 as 0, and a condition can tell the two apart.
  const told = JSON.stringify(request, (_, value: unknown) => {
    visited += 1;
    if (Object.is(value, -0)) minusZeros.push(visited);
    return value;
  });
  const question = JSON.stringify([told, [...include].sort(), conversationVersion, language, minusZeros]);
  return `toolcrib:answer:1:${tenant}:${incarnation}:${revision}:${createHash('sha256').update(question).digest('base64url')}` as AnswerKey;
}
