import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { finalize } from 'rxjs';
import type { Limits } from '../config/config.js';
import { LIMITS } from '../config/limits.token.js';
import { AppError } from '../errors/app-error.js';
import { Metrics } from '../observability/metrics.js';
import type { HeaderList } from './front.js';
import { problemOut, standInFront, writeInFront } from './front.js';
import { requestIdOf } from './request-context.js';

/** So many turns of the event loop must be long, one after another: a single one may be one large sync. */
const LONG_TURNS = 2;
/** … or a turn by itself so many times as long, without the dearest of its requests: under enough load none ever ends. */
const ENDLESS = 2;

/** Those who watch over the service are answered always, and a stream is a request for as long as it lives. */
export const STANDS_APART = /^\/(?:health\/|metrics$|v1\/changes(?:\?|$))/u;

/**
 * How late the service is. Requests that are there when a turn of the event loop begins are answered in it one after another, so
 * what a turn has taken is what its next request has waited at least.
 */
export class Lateness {
  private turn: { readonly beganAt: number; lastAt: number; dearestMs: number } | null = null;
  private longTurns = 0;

  constructor(
    private readonly mostMs: number,
    private readonly now: () => number = () => performance.now(),
    private readonly atEndOfTurn: (work: () => void) => void = setImmediate,
  ) {}

  /** Whether a request that comes now should be told to come again: what it would wait for is only getting longer. */
  isTooLate(): boolean {
    const now = this.now();
    if (this.turn === null) {
      this.turn = { beganAt: now, lastAt: now, dearestMs: 0 };
      this.atEndOfTurn(() => this.endTurn());
    }
    const { turn } = this;
    turn.dearestMs = Math.max(turn.dearestMs, now - turn.lastAt);
    turn.lastAt = now;
    const waitedMs = now - turn.beganAt;
    return waitedMs > this.mostMs && (this.longTurns >= LONG_TURNS || waitedMs - turn.dearestMs > ENDLESS * this.mostMs);
  }

  private endTurn(): void {
    const tookMs = this.now() - (this.turn?.beganAt ?? 0);
    this.turn = null;
    this.longTurns = tookMs > this.mostMs ? this.longTurns + 1 : 0;
  }
}

/**
 * No more than so many requests are under way at once. Only those count that are here with their whole body and whose caller is
 * admitted, and only until they are answered: slow strangers, and clients that do not read, take nobody's place. What is answered
 * ahead of the framework is never under way.
 */
@Injectable()
export class BoundConcurrency implements NestInterceptor {
  private underWay = 0;

  constructor(
    @Inject(LIMITS) private readonly limits: Limits,
    private readonly metrics: Metrics,
  ) {
    // Told from the start, so that an alert sees the first one.
    metrics.shedRequests.of('concurrency');
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (STANDS_APART.test(context.switchToHttp().getRequest<FastifyRequest>().url)) return next.handle();
    if (this.underWay >= this.limits.concurrency) {
      this.metrics.shedRequests.of('concurrency').inc();
      throw overloaded();
    }
    this.underWay += 1;
    return next.handle().pipe(finalize(() => {
      this.underWay -= 1;
    }));
  }
}

/** Under more load than there is time for, some are refused fast, so that the others are answered in time. */
export class LateShedding {
  private readonly lateness: Lateness;

  constructor(
    { queueMs }: Limits,
    private readonly metrics: Metrics,
  ) {
    this.lateness = new Lateness(queueMs);
    metrics.shedRequests.of('lateness');
  }

  /** To be asked of each request once. Null lets it in. */
  refusal(): AppError | null {
    if (!this.lateness.isTooLate()) return null;
    this.metrics.shedRequests.of('lateness').inc();
    return overloaded();
  }
}

export const COME_AGAIN: HeaderList = ['retry-after', '1'];

export function shedWhenLate(fastify: FastifyInstance, shedding: LateShedding): void {
  standInFront(fastify, (request, response, behind) => {
    const refusal = STANDS_APART.test(request.url ?? '') ? null : shedding.refusal();
    if (refusal === null) behind();
    else writeInFront(response, problemOut(refusal, requestIdOf(request), request.traceId, COME_AGAIN));
  });
}

const overloaded = (): AppError => new AppError('OVERLOADED', 'there is more to do here than can be done in time: try again shortly');
