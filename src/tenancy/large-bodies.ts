import type { FastifyInstance } from 'fastify';
import { SYNC_PATH } from '../platform/http/json-body.js';
import { presentedKey, unauthenticated } from './access.guard.js';
import type { Authenticator } from './authenticator.js';

/**
 * Asks for a valid key before a large body is read. The ordinary guard comes after the body, which is fine for small ones; a
 * sync may be as large as it takes to keep the process busy, and nobody without a key should get that far.
 */
export function refuseLargeBodiesOfStrangers(fastify: FastifyInstance, authenticator: Authenticator, usualBytes: number): void {
  fastify.addHook('onRequest', async (request) => {
    if (request.routeOptions.url !== SYNC_PATH || Number(request.headers['content-length'] ?? Infinity) <= usualBytes) return;
    const key = presentedKey(request);
    if (key === null) throw unauthenticated();
    await authenticator.authenticate(key);
  });
}
