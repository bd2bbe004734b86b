import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { check } from '../core/check.js';
import { decide } from '../core/decide.js';
import type { CheckAnswer, Decision } from '../core/decision.js';
import type { PolicyView } from '../core/policy-view.js';
import type { Language } from '../core/reason.js';
import type { CheckInput, DecideInput } from '../core/request.js';
import { readCheckRequest, readDecideRequest } from '../core/request.js';
import { Engines } from '../engines/engines.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { ServedView } from '../policy/policy-views.js';
import { PolicyViews } from '../policy/policy-views.js';
import { Subjects } from '../policy/subjects.js';
import type { WithMinRevision } from './request-reader.js';

/** How old an answer may be, told with it. */
export type Freshness = { readonly freshness: 'fresh' } | { readonly freshness: 'stale'; readonly staleForMs: number };

export type AnsweredDecision = Decision & Freshness;

/** A decision with the view that it was made from. */
export interface Decided {
  readonly decision: AnsweredDecision;
  readonly view: PolicyView;
}

@Injectable()
export class DecisionService {
  constructor(
    private readonly views: PolicyViews,
    private readonly subjects: Subjects,
    private readonly engines: Engines,
  ) {}

  /** Synchronous where the view is at hand, which is the common case. */
  decide(tenant: TenantId, input: DecideInput & WithMinRevision, language: Language): Decided | Promise<Decided> {
    return this.withView(tenant, input.minRevision, (served) => this.decideFrom(served, input, language));
  }

  check(tenant: TenantId, input: CheckInput & WithMinRevision, language: Language): CheckAnswer | Promise<CheckAnswer> {
    return this.withView(tenant, input.minRevision, ({ view }) => {
      const request = readCheckRequest(input);
      return check(this.subjects.of(view, request.agentId, request.context), request, this.engines.validateArguments, language);
    });
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
    return this.withView(tenant, input.minRevision, (served) => () => this.decideFrom(served, input, language));
  }

  private withView<T>(tenant: TenantId, minRevision: number | null | undefined, answer: (served: ServedView) => T): T | Promise<T> {
    const hot = this.views.hot(tenant);
    if (hot !== null && hot.revision >= (minRevision ?? 0)) return answer({ view: hot, staleForMs: 0 });
    return this.views.get(tenant, minRevision ?? 0).then(answer);
  }

  private decideFrom({ view, staleForMs }: ServedView, input: DecideInput, language: Language): Decided {
    const request = readDecideRequest(input);
    const subject = this.subjects.of(view, request.agentId, request.context, { view: request.view, select: request.select });
    const { agentId, revision, ...rest } = decide(subject, request.include, language);
    const freshness: Freshness = staleForMs === 0 ? { freshness: 'fresh' } : { freshness: 'stale', staleForMs };
    return { decision: { agentId, revision, ...freshness, ...rest }, view };
  }
}
