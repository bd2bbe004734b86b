import type { IncomingMessage, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { problemOf } from '../errors/problem.js';
import type { Problems } from '../errors/problems.js';
import { sendProblem } from './problem.filter.js';
import { requestIdOf } from './request-context.js';

/** Of the time that a request may take to arrive, its headers may take so much: they are small. */
const HEADERS_SHARE = 1 / 3;
/** How often slow clients are looked for. By default they would be let go on for half a minute more. */
const CHECK_MS = 500;
/** Longest name (128), escaped. */
const MAX_PARAM_LENGTH = 1_024;

/** When the service closes, what has not been finished, or not even been sent, by then is cut off, so that the database can still be closed in order. */
export const DRAIN_MS = 8_000;

/** The HTTP server, which answers what it can not even read with a problem document as well. */
export function httpServer(problems: Problems, requestTimeoutMs: number): FastifyAdapter {
  return new FastifyAdapter({
    genReqId: (request: IncomingMessage) => requestIdOf(request),
    requestTimeout: requestTimeoutMs,
    // Of the server itself too, or it holds the headers against its own default.
    http: { requestTimeout: requestTimeoutMs, headersTimeout: Math.ceil(requestTimeoutMs * HEADERS_SHARE), connectionsCheckingInterval: CHECK_MS },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    // A path that is not a path, or a name too long to be one.
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      reply.header('x-request-id', request.id);
      const tooLong = error.code === 'FST_ERR_MAX_PARAM_LENGTH' || error.statusCode === 414;
      sendProblem(reply, problems.of(tooLong ? new AppError('NOT_FOUND', 'nothing has a name that long') : error, request));
    },
    clientErrorHandler: refuseUnreadable,
  });
}

/** Why the parser gave up, where it is more than that it can not read. */
const GIVEN_UP: Readonly<Record<string, AppError>> = {
  HPE_HEADER_OVERFLOW: new AppError('HEADERS_TOO_LARGE', 'address and headers hold at most 16 KiB together'),
  ERR_HTTP_REQUEST_TIMEOUT: new AppError('REQUEST_TIMEOUT', 'send the whole request at once'),
};
const NO_HTTP = new AppError('BAD_REQUEST', 'the request can not be read');

/** What is no HTTP at all, too much or too late: there is no request to answer, only a connection to end. */
function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket & { readonly _httpMessage?: ServerResponse | null }): void {
  // Behind an answer that has begun, as a stream has, it would be part of that. Node's own refusal looks there as well.
  if (!socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const problem = problemOf(GIVEN_UP[error.code ?? ''] ?? NO_HTTP, randomUUID());
  const body = JSON.stringify(problem);
  // Its end alone would leave the connection to a client that keeps its half open, with nothing that ever looks for it again.
  socket.write(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\nContent-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
  socket.destroySoon();
}

/** No name and no query holds a NUL, and a database would choke on one. */
export function refuseNul(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    done(/%00/u.test(request.url) ? new AppError('BAD_REQUEST', 'the address holds a NUL character') : undefined);
  });
}

/** A path that is there for other methods says so, and for which (RFC 9110, 15.5.6). */
export function refuseOtherMethods(fastify: FastifyInstance): void {
  const routes: { readonly path: RegExp; readonly methods: string[] }[] = [];
  fastify.addHook('onRoute', ({ url, method }) => {
    const path = url.replaceAll(/[.*]/gu, '\\$&').replaceAll(/:\w+/gu, '[^/]+');
    routes.push({ path: new RegExp(`^${path}$`, 'u'), methods: [method].flat() });
  });
  const methodsOf = (url: string): string[] => {
    const [path = ''] = url.split('?');
    return [...new Set(routes.filter((route) => route.path.test(path)).flatMap(({ methods }) => methods))].sort();
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const methods = request.is404 ? methodsOf(request.url) : [];
    if (methods.length === 0) {
      done();
      return;
    }
    reply.header('allow', methods.join(', '));
    done(new AppError('METHOD_NOT_ALLOWED', `this path takes ${methods.map((name) => `\`${name}\``).join(', ')} alone`));
  });
}
