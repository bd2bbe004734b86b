import type { FastifyInstance } from 'fastify';
import type { Tracing } from '../observability/tracing.js';
import { standInFront } from './front.js';
import { STANDS_APART } from './overload.js';

/** A span for each request from here on; probes, scrapes and streams of changes have none. */
export function traceRequests(fastify: FastifyInstance, tracing: Tracing): void {
  if (!tracing.isOn) return;
  standInFront(fastify, (request, response, behind) => {
    if (STANDS_APART.test(request.url ?? '')) behind();
    else tracing.serve(request, response, behind);
  });
}

/** The framework answers within the span: it is called anew when a request comes back from in front, and when its body is there. */
export function answerWithin(fastify: FastifyInstance, tracing: Tracing): void {
  if (!tracing.isOn) return;
  fastify.addHook('onRequest', (request, _reply, done) => tracing.within(request.raw, done));
  fastify.addHook('preValidation', (request, _reply, done) => tracing.within(request.raw, done));
}
