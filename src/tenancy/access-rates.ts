import type { FastifyInstance } from 'fastify';
import { setHeaders } from '../platform/http/front.js';
import { rateHeaders } from './rate-limits.js';

/** Tells every caller how it stands with its limits. */
export function tellRates(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    setHeaders(reply, rateHeaders(request.standing ?? null));
    done();
  });
}
