import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { check } from '../core/check.js';
import type { DecideParts, Judgement } from '../core/decide.js';
import { judgeAll, tell } from '../core/decide.js';
import type { CheckAnswer, Decision } from '../core/decision.js';
import type { Offering } from '../core/expose.js';
import { isLoader } from '../core/expose.js';
import type { Language } from '../core/reason.js';
import type { CheckInput, DecideInput, DecideRequest, TurnInput } from '../core/request.js';
import { readCheckRequest, readDecideRequest } from '../core/request.js';
import { Engines } from '../engines/engines.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Subjects } from '../policy/subjects.js';
import type { Ground, WithMinRevision } from './grounds.js';
import { Grounds, offeringIn } from './grounds.js';

/** How old an answer may be, told with it. */
export type Freshness = { readonly freshness: 'fresh' } | { readonly freshness: 'stale'; readonly staleForMs: number };

export type AnsweredDecision = Decision & Freshness;

/** A decision before it is told, with what it was made from. */
export interface Decided {
  readonly judgement: Judgement;
  readonly parts: DecideParts;
  readonly language: Language;
  readonly ground: Ground;
  /** False for a stale one, and where time ran out: the same question may have another answer at once. */
  readonly isSettled: boolean;
}

/** The answer in words. */
export function toldOf({ judgement, parts, language, ground: { staleForMs } }: Decided): AnsweredDecision {
  const { agentId, revision, ...rest } = tell(judgement, parts, language);
  const freshness: Freshness = staleForMs === 0 ? { freshness: 'fresh' } : { freshness: 'stale', staleForMs };
  return { agentId, revision, ...freshness, ...rest };
}

/** What an answer of a batch was made from. */
export interface MadeInBatch {
  /** Its place. */
  readonly item: number;
  readonly input: DecideInput;
  readonly decided: Decided;
  readonly startedAt: number;
}

export interface Checked {
  readonly answer: CheckAnswer;
  /** 0 for one from a fresh view. */
  readonly staleForMs: number;
}

/** What becomes of an answer at once, so that not all of a batch need be held as they were made. */
export interface Told<T> {
  readonly ok: (decision: AnsweredDecision, made: MadeInBatch) => T;
  readonly failed: (error: unknown) => T;
}

@Injectable()
export class DecisionService {
  constructor(
    private readonly grounds: Grounds,
    private readonly subjects: Subjects,
    private readonly engines: Engines,
  ) {}

  /** Synchronous where policy and conversation are at hand, which is the common case. */
  decide(tenant: TenantId, input: DecideInput & WithMinRevision, language: Language): Decided | Promise<Decided> {
    return this.on(tenant, input, (ground) => this.decideFrom(ground, input, language));
  }

  /** Null where something has to be read first: then {@link decide} does. */
  decideAtOnce(tenant: TenantId, input: DecideInput & WithMinRevision, language: Language): Decided | null {
    const ground = this.grounds.hot(tenant, input);
    return ground && this.decideFrom(ground, input, language);
  }

  /** A refusal for want of loading is never given from memory. */
  async check(tenant: TenantId, input: CheckInput & WithMinRevision, language: Language): Promise<Checked> {
    const checked = await this.on(tenant, input, (ground) => this.checkFrom(ground, input, language));
    return mayBeLoadedMeanwhile(checked.answer, input) ? this.checkFrom(await this.grounds.readAnew(tenant, input), input, language) : checked;
  }

  /** Null where something has to be read first: then {@link check} does. Always fresh. */
  checkAtOnce(tenant: TenantId, input: CheckInput & WithMinRevision, language: Language): CheckAnswer | null {
    const ground = this.grounds.hot(tenant, input);
    const answer = ground && this.checkFrom(ground, input, language).answer;
    return answer && (mayBeLoadedMeanwhile(answer, input) ? null : answer);
  }

  /**
   * Each in its place; a failed one leaves the others alone. Those that wait for a revision wait together; then one is decided
   * after another, and other requests get their turn in between. What they write meanwhile counts for those that come after.
   */
  async decideAll<T>(tenant: TenantId, requests: readonly (() => DecideInput & WithMinRevision)[], language: Language, told: Told<T>): Promise<T[]> {
    const ready = await Promise.allSettled(requests.map((request) => this.readyToDecide(tenant, request)));
    const results: T[] = [];
    for (const [item, one] of ready.entries()) {
      await nextTurn();
      const startedAt = performance.now();
      try {
        if (one.status === 'rejected') throw one.reason;
        const decided = await this.decide(tenant, one.value, language);
        results.push(told.ok(toldOf(decided), { item, input: one.value, decided, startedAt }));
      } catch (error) {
        results.push(told.failed(error));
      }
    }
    return results;
  }

  private async readyToDecide(tenant: TenantId, request: () => DecideInput & WithMinRevision): Promise<DecideInput & WithMinRevision> {
    const input = request();
    await this.on(tenant, input, () => undefined);
    return input;
  }

  private on<T>(tenant: TenantId, asked: TurnInput & WithMinRevision, answer: (ground: Ground) => T): T | Promise<T> {
    const ground = this.grounds.hot(tenant, asked);
    return ground === null ? this.grounds.read(tenant, asked).then(answer) : answer(ground);
  }

  decideFrom(ground: Ground, input: DecideInput, language: Language): Decided {
    const request = readDecideRequest(input);
    const { view, staleForMs } = ground;
    const subject = this.subjects.of(view, request.agentId, request.context, { view: request.view, select: request.select });
    const judgement = judgeAll(subject);
    const isSettled = staleForMs === 0 && !this.engines.ranOutOfTime(subject.facts);
    return { judgement, parts: partsOf(request, offeringIn(ground, request)), language, ground, isSettled };
  }

  private checkFrom(ground: Ground, input: CheckInput, language: Language): Checked {
    const request = readCheckRequest(input);
    const subject = this.subjects.of(ground.view, request.agentId, request.context);
    const answer = check(subject, { ...request, offering: offeringIn(ground, request) }, this.engines.validateArguments, language);
    return { answer, staleForMs: ground.staleForMs };
  }
}

const partsOf = ({ include, format, nativeDeferral }: DecideRequest, offering: Offering): DecideParts => ({ offering, include, format, nativeDeferral });

/** Another process may have loaded the tool just now. */
const mayBeLoadedMeanwhile = ({ allowed, stage }: CheckAnswer, { toolName, conversationId }: CheckInput): boolean =>
  (stage === 'exposure' || (!allowed && isLoader(toolName))) && (conversationId ?? null) !== null;
