import type { FastifyInstance } from 'fastify';
import type { ConversationStates } from '../conversations/conversation-states.js';
import type { Limits } from '../platform/config/config.js';
import type { AheadAnswer, AheadRequest, Answered } from '../platform/http/ahead.js';
import { answerAhead } from '../platform/http/ahead.js';
import { bytesAsText, readJson } from '../platform/http/json-body.js';
import type { LateShedding } from '../platform/http/overload.js';
import type { NoteAnswered } from '../platform/http/request-context.js';
import { languageOf } from '../platform/http/request-context.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { Tracing } from '../platform/observability/tracing.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { PolicyViews } from '../policy/policy-views.js';
import type { AccessGuard, Admission } from '../tenancy/access.guard.js';
import type { Answer, Answers, Asked } from './answers.js';
import { checkAsSent } from './answers.js';
import { DECIDE_ACCESS } from './decision.access.js';
import type { CheckNoted, DecideNoted, DecisionLog } from './decision-log.js';
import type { DecisionService } from './decision.service.js';
import { agentOf, outcomeOfCheck, spanOf } from './decision-span.js';
import type { RequestReader } from './request-reader.js';

export interface FastRoadParts {
  readonly guard: AccessGuard;
  readonly views: PolicyViews;
  readonly conversations: ConversationStates;
  readonly answers: Answers;
  readonly decisions: DecisionService;
  readonly reader: RequestReader;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly note: NoteAnswered;
  readonly tracing: Tracing;
  readonly shedding: LateShedding;
  readonly log: DecisionLog;
}

/** What a question came to. */
interface Found {
  readonly answer: AheadAnswer;
  /** In the word that metrics have for it. */
  readonly outcome: string;
  readonly revision: number;
  readonly noted: Pick<DecideNoted, 'outcome' | 'content'> | Pick<CheckNoted, 'verdict' | 'toolName'>;
}

/** Null where it takes the ordinary road. */
type Find = (tenant: TenantId, request: AheadRequest, parts: FastRoadParts) => Found | null;

/**
 * Answers decide and check ahead of the framework's own layers wherever that takes no look at the database. It only ever says
 * what the ordinary road would say: the same guard admits the caller, the same reader reads the body, the view and the
 * conversation must be fresh, and the answer is made, or was made, by the same code. It refuses nothing but who asks too often:
 * whatever is wrong, missing or not fresh, the request goes on to the ordinary road, which says so.
 */
export function openFastRoad(fastify: FastifyInstance, parts: FastRoadParts): void {
  const { limits, metrics, note, tracing, shedding } = parts;
  const answers = new Map([
    ['/v1/decide', (request: AheadRequest) => answerTo(request, metrics.decideSeconds, findDecision, parts)],
    ['/v1/check', (request: AheadRequest) => answerTo(request, metrics.checkSeconds, findVerdict, parts)],
  ]);
  answerAhead(fastify, { answers, besides: ['/v1/search'], maxBytes: limits.bodyBytes, note, tracing, shedding });
}

function answerTo(request: AheadRequest, durations: Metrics['decideSeconds'], find: Find, parts: FastRoadParts): Answered | null {
  const { guard, tracing, log } = parts;
  const start = performance.now();
  const admission = guard.admitsFromMemory(DECIDE_ACCESS, request);
  if (!admission) return null;
  const { caller, refusal } = admission;
  if (refusal !== null) return { answer: refusal, headers: guard.count(admission), caller, afterwards: null };
  const found = find(caller.tenant, request, parts);
  if (!found) return null;
  const durationMs = performance.now() - start;
  durations.of(caller.tenant, found.outcome).observe(durationMs / 1000);
  if (tracing.isOn) tracing.note(() => spanOf({ agentId: agentOf(request.body), revision: found.revision, outcome: found.outcome, staleForMs: 0, road: 'ahead' }));
  return { answer: found.answer, headers: guard.count(admission), caller, afterwards: log.isOn ? logged(log, admission, request, found, durationMs) : null };
}

/** An answer from here is always fresh. */
function logged(log: DecisionLog, { caller: { tenant, keyId } }: Admission, { body }: AheadRequest, { revision, noted }: Found, durationMs: number): NonNullable<Answered['afterwards']> {
  return (requestId, traceId) => {
    log.note({ tenant, keyId, requestId, traceId, road: 'ahead', asked: body, revision, staleForMs: 0, durationMs, ...noted });
  };
}

function findDecision(tenant: TenantId, { headers, body }: AheadRequest, parts: FastRoadParts): Found | null {
  const { views, conversations, answers } = parts;
  const view = views.hot(tenant);
  if (view === null) return null;
  const asked = { language: languageOf({ headers }), text: bytesAsText(body), ifNoneMatch: headers['if-none-match'] };
  const answer = answers.again(tenant, view, asked, ({ id, version }) => conversations.hot(tenant, id)?.version === version) ?? workedOut(tenant, body, asked, parts);
  if (answer === null) return null;
  const { outcome, revision, content } = answer;
  return { answer, outcome, revision: Number(revision), noted: { outcome, content } };
}

function workedOut(tenant: TenantId, body: Buffer, asked: Asked, { answers, decisions, reader, limits }: FastRoadParts): Answer | null {
  try {
    const input = reader.readDecide(readJson(body, limits.jsonDepth));
    const decided = decisions.decideAtOnce(tenant, input, asked.language);
    return decided && answers.of(tenant, decided, asked, input.conversationId);
  } catch {
    return null;
  }
}

function findVerdict(tenant: TenantId, { headers, body }: AheadRequest, { decisions, reader, limits }: FastRoadParts): Found | null {
  try {
    const input = reader.readCheck(readJson(body, limits.jsonDepth));
    const verdict = decisions.checkAtOnce(tenant, input, languageOf({ headers }));
    return verdict && { answer: checkAsSent(verdict), outcome: outcomeOfCheck(verdict), revision: verdict.revision, noted: { verdict, toolName: input.toolName } };
  } catch {
    return null;
  }
}
