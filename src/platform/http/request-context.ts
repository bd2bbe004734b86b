import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Language } from '../../core/reason.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';

const ACCEPTED_ID = /^[\x21-\x7e]{1,128}$/u;

/** The caller's own id where it is one, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : randomUUID();
}

/** Chinese where the first language asked for is, else English. */
export const languageOf = ({ headers }: Pick<FastifyRequest, 'headers'>): Language => (/^\s*zh\b/iu.test(headers['accept-language'] ?? '') ? 'zh' : 'en');

/** Who asked, for the log alone; set by the guard. */
export interface LoggedCaller {
  readonly tenant: string | null;
  /** As history has it: of a person `person:` and the `sub`, never a name or a token. */
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

/** A request that was answered, as it is counted and logged. */
export interface Answered {
  /** Null for one that never was one of Node's, which is only where nothing is traced. */
  readonly request: IncomingMessage | null;
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly startedAt: number;
  readonly caller: LoggedCaller | undefined;
}

/** Counts and logs, on whichever road, and ends the request's span. Reads and decisions are logged at `debug`, writes at `info`, failures at `error`. */
export type NoteAnswered = (answered: Answered) => void;

export function noteAnswered(logger: Logger, metrics: Metrics, tracing: Tracing): NoteAnswered {
  const note: NoteAnswered = ({ request, requestId, method, route, status, startedAt, caller }) => {
    metrics.httpRequests.of(method, route, String(status)).inc();
    const level = levelOf(status, isWrite(method) && !HOT_ROUTES.has(route));
    if (!logger.isLevelEnabled(level)) return;
    logger[level]({ requestId, traceId: request?.traceId, method, route, status, ms: Math.round((performance.now() - startedAt) * 100) / 100, ...caller }, 'request');
  };
  if (!tracing.isOn) return note;
  return (answered) => {
    note(answered);
    if (answered.request !== null) tracing.end(answered.request, { ...answered, tenant: answered.caller?.tenant ?? null });
  };
}

/** Echoes the request id, and notes every answer. */
export function observeRequests(fastify: FastifyInstance, note: NoteAnswered): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    note({
      request: request.raw,
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      startedAt: performance.now() - reply.elapsedTime,
      caller: request.caller,
    });
    done();
  });
}
