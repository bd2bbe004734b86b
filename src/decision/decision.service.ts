import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ConversationStates } from '../conversations/conversation-states.js';
import type { ServedConversation } from '../conversations/conversation-states.js';
import { check } from '../core/check.js';
import { decide } from '../core/decide.js';
import type { CheckAnswer, Decision } from '../core/decision.js';
import { isLoader, offeringOf } from '../core/expose.js';
import type { Offering, OfferingAsked } from '../core/expose.js';
import type { PolicyView } from '../core/policy-view.js';
import type { Language } from '../core/reason.js';
import type { CheckInput, DecideInput, TurnInput } from '../core/request.js';
import { readCheckRequest, readDecideRequest } from '../core/request.js';
import { Engines } from '../engines/engines.js';
import { AppError } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { ServedView } from '../policy/policy-views.js';
import { PolicyViews } from '../policy/policy-views.js';
import { Subjects } from '../policy/subjects.js';
import type { WithMinRevision } from './request-reader.js';

/** How old an answer may be, told with it. */
export type Freshness = { readonly freshness: 'fresh' } | { readonly freshness: 'stale'; readonly staleForMs: number };

export type AnsweredDecision = Decision & Freshness;

/** What a question is answered from: the policy, and the conversation where it names one. */
export interface Ground extends ServedView {
  readonly conversation: ServedConversation | null;
}

/** A decision with what it was made from. */
export interface Decided {
  readonly decision: AnsweredDecision;
  readonly ground: Ground;
}

type Asked = TurnInput & WithMinRevision;

@Injectable()
export class DecisionService {
  constructor(
    private readonly views: PolicyViews,
    private readonly conversations: ConversationStates,
    private readonly subjects: Subjects,
    private readonly engines: Engines,
  ) {}

  /** Synchronous where policy and conversation are at hand, which is the common case. */
  decide(tenant: TenantId, input: DecideInput & WithMinRevision, language: Language): Decided | Promise<Decided> {
    return this.on(tenant, input, (ground) => this.decideFrom(ground, input, language));
  }

  /** A refusal for want of loading is never given from memory: another process may have loaded the tool just now. */
  async check(tenant: TenantId, input: CheckInput & WithMinRevision, language: Language): Promise<CheckAnswer> {
    const answer = await this.on(tenant, input, (ground) => this.checkFrom(ground, input, language));
    const id = input.conversationId ?? null;
    if (id === null || answer.allowed || (answer.stage !== 'exposure' && !isLoader(input.toolName))) return answer;
    const [served, conversation] = await Promise.all([this.views.get(tenant, input.minRevision ?? 0), this.conversations.fresh(tenant, id)]);
    return this.checkFrom({ ...served, conversation }, input, language);
  }

  /**
   * Each in its place; a failed one leaves the others alone. Those that wait for a revision wait together; then one is decided
   * after another, and other requests get their turn in between.
   */
  async decideAll<T>(tenant: TenantId, requests: readonly (() => DecideInput & WithMinRevision)[], language: Language, failed: (error: unknown) => T): Promise<({ ok: AnsweredDecision } | { error: T })[]> {
    const ready = await Promise.allSettled(requests.map((request) => this.readyToDecide(tenant, request, language)));
    const results: ({ ok: AnsweredDecision } | { error: T })[] = [];
    for (const one of ready) {
      await nextTurn();
      try {
        if (one.status === 'rejected') throw one.reason;
        results.push({ ok: one.value().decision });
      } catch (error) {
        results.push({ error: failed(error) });
      }
    }
    return results;
  }

  private async readyToDecide(tenant: TenantId, request: () => DecideInput & WithMinRevision, language: Language): Promise<() => Decided> {
    const input = request();
    return this.on(tenant, input, (ground) => () => this.decideFrom(ground, input, language));
  }

  private on<T>(tenant: TenantId, { conversationId, minRevision }: Asked, answer: (ground: Ground) => T): T | Promise<T> {
    const id = conversationId ?? null;
    const view = this.views.hot(tenant);
    const conversation = id === null ? null : this.conversations.hot(tenant, id);
    if (view !== null && view.revision >= (minRevision ?? 0) && conversation !== undefined) return answer({ view, staleForMs: 0, conversation });
    return this.read(tenant, id, minRevision ?? 0).then(answer);
  }

  private async read(tenant: TenantId, id: string | null, minRevision: number): Promise<Ground> {
    const [served, conversation] = await Promise.all([this.views.get(tenant, minRevision), id === null ? null : this.conversations.current(tenant, id)]);
    return { view: served.view, staleForMs: Math.max(served.staleForMs, conversation?.staleForMs ?? 0), conversation };
  }

  private decideFrom(ground: Ground, input: DecideInput, language: Language): Decided {
    const request = readDecideRequest(input);
    const { view, staleForMs } = ground;
    const subject = this.subjects.of(view, request.agentId, request.context, { view: request.view, select: request.select });
    const { agentId, revision, ...rest } = decide(subject, offeringIn(ground, request), request.include, language);
    const freshness: Freshness = staleForMs === 0 ? { freshness: 'fresh' } : { freshness: 'stale', staleForMs };
    return { decision: { agentId, revision, ...freshness, ...rest }, ground };
  }

  private checkFrom(ground: Ground, input: CheckInput, language: Language): CheckAnswer {
    const request = readCheckRequest(input);
    const subject = this.subjects.of(ground.view, request.agentId, request.context);
    return check(subject, { ...request, offering: offeringIn(ground, request) }, this.engines.validateArguments, language);
  }
}

function offeringIn({ view, conversation: served }: { readonly view: PolicyView; readonly conversation: ServedConversation | null }, request: OfferingAsked & { readonly agentId: string }): Offering {
  const conversation = served?.conversation ?? null;
  if (conversation !== null && conversation.agentId !== request.agentId) {
    throw new AppError('CONVERSATION_OF_OTHER_AGENT', 'the conversation belongs to another agent');
  }
  return offeringOf(request, conversation?.state ?? null, view, null);
}
