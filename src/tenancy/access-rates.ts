import type { FastifyInstance } from 'fastify';
import './access.js';
import { rateHeaders } from './rate-limits.js';

/** Tells every caller how it stands with its limits. */
export function tellRates(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    const headers = rateHeaders(request.standing ?? null);
    for (let i = 0; i + 1 < headers.length; i += 2) reply.header(headers[i] ?? '', headers[i + 1]);
    done();
  });
}
