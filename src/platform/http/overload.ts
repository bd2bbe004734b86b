import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import type { Metrics } from '../observability/metrics.js';
import { refuseInFront, standInFront } from './front.js';
import { requestIdOf } from './request-context.js';

/** So many turns of the event loop must be long, one after another: a single one may be one large sync. */
const LONG_TURNS = 2;

/** Those who watch over the service are answered always, and a stream is a request for as long as it lives. */
export const STANDS_APART = /^\/(?:health\/|metrics$|v1\/changes(?:\?|$))/u;

/**
 * How late the service is. Requests that are there when a turn of the event loop begins are answered in it one after another, so
 * what a turn has taken is what its next request has waited at least.
 */
export class Lateness {
  private turnBeganAt: number | null = null;
  private longTurns = 0;

  constructor(
    private readonly mostMs: number,
    private readonly now: () => number = () => performance.now(),
    private readonly atEndOfTurn: (work: () => void) => void = setImmediate,
  ) {}

  /** Whether a request that comes now should be told to come again: what it would wait for is only getting longer. */
  isTooLate(): boolean {
    const now = this.now();
    if (this.turnBeganAt === null) {
      this.turnBeganAt = now;
      this.atEndOfTurn(() => this.endTurn());
    }
    return this.longTurns >= LONG_TURNS && now - this.turnBeganAt > this.mostMs;
  }

  private endTurn(): void {
    const took = this.now() - (this.turnBeganAt ?? 0);
    this.turnBeganAt = null;
    this.longTurns = took > this.mostMs ? this.longTurns + 1 : 0;
  }
}

type Reason = 'concurrency' | 'lateness';

/** No more than so many requests are under way at once; one that is answered at once is never under way. */
export function boundConcurrency(fastify: FastifyInstance, most: number, metrics: Metrics): void {
  let underWay = 0;
  // Told from the start, so that an alert sees the first one.
  metrics.shedRequests.of('concurrency');
  standInFront(fastify, (request, response, behind) => {
    if (STANDS_APART.test(request.url ?? '')) {
      behind();
      return;
    }
    if (underWay >= most) {
      refuse(request, response, 'concurrency', metrics);
      return;
    }
    underWay += 1;
    response.once('close', () => {
      underWay -= 1;
    });
    behind();
  });
}

/** Under more load than there is time for, some are refused fast, so that the others are answered in time. */
export function shedWhenLate(fastify: FastifyInstance, { queueMs }: Limits, metrics: Metrics): void {
  const lateness = new Lateness(queueMs);
  metrics.shedRequests.of('lateness');
  standInFront(fastify, (request, response, behind) => {
    if (lateness.isTooLate() && !STANDS_APART.test(request.url ?? '')) refuse(request, response, 'lateness', metrics);
    else behind();
  });
}

function refuse(request: IncomingMessage, response: ServerResponse, reason: Reason, metrics: Metrics): void {
  metrics.shedRequests.of(reason).inc();
  refuseInFront(response, new AppError('OVERLOADED', 'there is more to do here than can be done in time: try again shortly'), requestIdOf(request), ['retry-after', '1']);
}
