import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors/app-error.js';
import type { HeaderList } from './front.js';
import { refuseInFront, standInFront } from './front.js';
import type { Tracing } from '../observability/tracing.js';
import type { LoggedCaller, NoteAnswered } from './request-context.js';
import { requestIdOf } from './request-context.js';

/** A request with its whole body, before the framework has looked at it. */
export interface AheadRequest {
  readonly headers: IncomingHttpHeaders;
  readonly connection: Socket;
  readonly body: Buffer;
}

export interface AheadAnswer {
  readonly status: 200 | 304;
  readonly headers: HeaderList;
  /** Null for none. */
  readonly body: Buffer | null;
}

/** An answer, or why there is none, and to whom. */
export interface Answered {
  readonly answer: AheadAnswer | AppError;
  /** Beside those of the answer. */
  readonly headers: HeaderList;
  readonly caller: LoggedCaller;
  /** What is to be done once it is sent, or null. */
  readonly afterwards: ((requestId: string, traceId: string | undefined) => void) | null;
}

export interface AheadRoute {
  readonly path: string;
  readonly maxBytes: number;
  readonly note: NoteAnswered;
  readonly tracing: Tracing;
  /** Null sends the request on to the framework, as if nobody had looked at it: it must have no effect then. */
  readonly answer: (request: AheadRequest) => Answered | null;
}

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/iu;

/**
 * Answers a POST of JSON ahead of the framework where it can be answered at once and well. Whatever is out of the ordinary
 * (another type, a large body, one that comes in pieces, a server that is closing) is the framework's, and so is every refusal
 * but one for asking too often.
 */
export function answerAhead(fastify: FastifyInstance, route: AheadRoute): void {
  let isClosing = false;
  fastify.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  standInFront(fastify, (request, response, behind) => {
    const length = isClosing ? 0 : lengthOf(request, route);
    if (length === 0) {
      behind();
      return;
    }
    const startedAt = performance.now();
    // Taken off by hand where it must be: `once` costs more than all that is done here.
    const take = (body: Buffer): void => {
      const answered = body.length === length && !isClosing ? ask(request, body, route) : null;
      if (answered !== null) {
        send(request, response, answered, startedAt, route);
        return;
      }
      request.removeListener('data', take);
      giveBack(request, body, behind);
    };
    request.on('data', take);
  });
}

function ask(request: IncomingMessage, body: Buffer, { answer, tracing }: AheadRoute): Answered | null {
  const asked = { headers: request.headers, connection: request.socket, body };
  return tracing.isOn ? tracing.within(request, () => answer(asked)) : answer(asked);
}

/** The length of the body, or 0 for a request that is not meant. */
function lengthOf({ method, url, headers }: IncomingMessage, { path, maxBytes }: AheadRoute): number {
  if (method !== 'POST' || url !== path || !JSON_TYPE.test(headers['content-type'] ?? '')) return 0;
  const length = Number(headers['content-length'] ?? 0);
  return length <= maxBytes ? length : 0;
}

/** Its end has not been told yet, so whoever reads it next finds it whole. */
function giveBack(request: IncomingMessage, body: Buffer, read: () => void): void {
  request.pause();
  request.unshift(body);
  read();
}

function send(request: IncomingMessage, response: ServerResponse, { answer, headers, caller, afterwards }: Answered, startedAt: number, { path, note }: AheadRoute): void {
  const requestId = requestIdOf(request);
  const status = answer instanceof AppError ? refuseInFront(response, answer, requestId, headers) : write(response, answer, requestId, headers);
  note({ request, requestId, method: 'POST', route: path, status, startedAt, caller });
  if (afterwards !== null) afterwards(requestId, request.traceId);
}

function write(response: ServerResponse, { status, headers, body }: AheadAnswer, requestId: string, more: HeaderList): number {
  response.writeHead(status, ['x-request-id', requestId, ...more, ...headers]);
  response.end(body ?? undefined);
  return status;
}
