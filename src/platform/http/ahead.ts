import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors/app-error.js';
import type { Tracing } from '../observability/tracing.js';
import type { HeaderList, Outgoing } from './front.js';
import { listenerOf, problemOut, standInFront, writeInFront } from './front.js';
import type { LateShedding } from './overload.js';
import { COME_AGAIN } from './overload.js';
import { servePlainConnections } from './plain-connections.js';
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
  /** Others that the same clients ask on the same connections, and that the framework answers. */
  readonly besides: readonly string[];
  readonly maxBytes: number;
  readonly note: NoteAnswered;
  readonly tracing: Tracing;
  readonly shedding: LateShedding;
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
  const framework = listenerOf(fastify.server);
  const state = { isClosing: false };
  fastify.addHook('preClose', (done) => {
    state.isClosing = true;
    done();
  });
  answerInFront(fastify, route, state);
  // A trace is told of requests as Node has them.
  if (route.tracing.isOn) return;
  const { path, besides, shedding } = route;
  const end = servePlainConnections(fastify.server, {
    paths: new Set([path, ...besides]),
    answer: (request, connection) => {
      const late = shedding.refusal();
      if (late !== null) return problemOut(late, requestIdOf(request), undefined, COME_AGAIN);
      if (request.path !== path || state.isClosing || lengthOf(request.headers, route) === 0) return null;
      const startedAt = performance.now();
      const answered = route.answer({ headers: request.headers, connection, body: request.body });
      return answered && outgoing(answered, { request: null, headers: request.headers, startedAt }, route);
    },
    behind: framework,
  });
  fastify.addHook('preClose', (done) => {
    end();
    done();
  });
}

/** Of what Node has read. */
function answerInFront(fastify: FastifyInstance, route: AheadRoute, state: { readonly isClosing: boolean }): void {
  standInFront(fastify, (request, response, behind) => {
    const isMeant = request.method === 'POST' && request.url === route.path && !state.isClosing;
    const length = isMeant ? lengthOf(request.headers, route) : 0;
    if (length === 0) {
      behind();
      return;
    }
    const startedAt = performance.now();
    // Taken off by hand where it must be: `once` costs more than all that is done here.
    const take = (body: Buffer): void => {
      const answered = body.length === length && !state.isClosing ? ask(request, body, route) : null;
      if (answered !== null) {
        writeInFront(response, outgoing(answered, { request, headers: request.headers, startedAt }, route));
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
function lengthOf(headers: IncomingHttpHeaders, { maxBytes }: AheadRoute): number {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) return 0;
  const length = Number(headers['content-length'] ?? 0);
  return length <= maxBytes ? length : 0;
}

/** Its end has not been told yet, so whoever reads it next finds it whole. */
function giveBack(request: IncomingMessage, body: Buffer, read: () => void): void {
  request.pause();
  request.unshift(body);
  read();
}

interface Asking {
  /** As Node has it, where it does. */
  readonly request: IncomingMessage | null;
  readonly headers: IncomingHttpHeaders;
  readonly startedAt: number;
}

/** The answer as it goes out, counted and logged. */
function outgoing({ answer, headers: more, caller, afterwards }: Answered, { request, headers, startedAt }: Asking, { path, note }: AheadRoute): Outgoing {
  const requestId = requestIdOf({ headers });
  const traceId = request?.traceId;
  const isRefusal = answer instanceof AppError;
  const out = isRefusal ? problemOut(answer, requestId, traceId, more) : { status: answer.status, headers: ['x-request-id', requestId, ...more, ...answer.headers], body: answer.body };
  note({ request, requestId, method: 'POST', route: path, status: out.status, startedAt, caller });
  if (afterwards !== null) afterwards(requestId, traceId);
  return out;
}
