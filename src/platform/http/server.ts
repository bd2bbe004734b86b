import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { problemOf } from '../errors/problem.js';
import type { Problems } from '../errors/problems.js';
import { sendProblem } from './problem.filter.js';
import { requestIdOf } from './request-context.js';

/** Headers and body of one request must be there by then, however slow the client. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longest name (128), escaped. */
const MAX_PARAM_LENGTH = 1_024;

/** The HTTP server, which answers what it can not even read with a problem document as well. */
export function httpServer(problems: Problems): FastifyAdapter {
  return new FastifyAdapter({
    genReqId: (request: IncomingMessage) => requestIdOf(request),
    requestTimeout: REQUEST_TIMEOUT_MS,
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

/** What is no HTTP at all: there is no request to answer, only a connection to end. */
function refuseUnreadable(_error: Error, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(problemOf(new AppError('BAD_REQUEST', 'the request can not be read'), randomUUID()));
  socket.end(`HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
}

/** No name and no query holds a NUL, and a database would choke on one. */
export function refuseNul(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    done(/%00/u.test(request.url) ? new AppError('BAD_REQUEST', 'the address holds a NUL character') : undefined);
  });
}
