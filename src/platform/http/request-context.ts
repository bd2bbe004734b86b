import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Language } from '../../core/reason.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';

const ACCEPTED_ID = /^[\x21-\x7e]{1,128}$/u;

/** The caller's own id where it is one, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : randomUUID();
}

/** Chinese where the first language asked for is, else English. */
export const languageOf = ({ headers }: Pick<FastifyRequest, 'headers'>): Language => (/^\s*zh\b/iu.test(headers['accept-language'] ?? '') ? 'zh' : 'en');

/** Who asked, for the log alone; set by the guard. */
export interface LoggedCaller {
  readonly tenant: string | null;
  readonly keyId: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: LoggedCaller;
  }
}

const isWrite = (method: string): boolean => method !== 'GET' && method !== 'HEAD';
const HOT_ROUTES = new Set(['/v1/decide', '/v1/decide/batch', '/v1/check', '/v1/search']);

const levelOf = (status: number, tells: boolean): 'error' | 'warn' | 'info' | 'debug' => {
  if (status >= 500) return status === 503 ? 'warn' : 'error';
  return tells ? 'info' : 'debug';
};

/** Echoes the request id, counts and logs. Reads and decisions are logged at `debug`, writes at `info`, failures at `error`. */
export function observeRequests(fastify: FastifyInstance, logger: Logger, metrics: Metrics): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const { method } = request;
    const status = reply.statusCode;
    metrics.httpRequests.inc({ method, route, status });
    const level = levelOf(status, isWrite(method) && !HOT_ROUTES.has(route));
    if (logger.isLevelEnabled(level)) {
      logger[level]({ requestId: request.id, method, route, status, ms: Math.round(reply.elapsedTime * 100) / 100, ...request.caller }, 'request');
    }
    done();
  });
}
