import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server } from 'node:http';
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
import { DRAIN_MS } from './server.js';

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

export interface AheadRoad {
  /** By path. Null sends the request on to the framework, as if nobody had looked at it: it must have no effect then. */
  readonly answers: ReadonlyMap<string, (request: AheadRequest) => Answered | null>;
  /** Paths that the same clients ask on the same connections, and that the framework answers. */
  readonly besides: readonly string[];
  readonly maxBytes: number;
  readonly note: NoteAnswered;
  readonly tracing: Tracing;
  readonly shedding: LateShedding;
}

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/iu;

/**
 * Answers POSTs of JSON ahead of the framework where it can be answered at once and well. Whatever is out of the ordinary
 * (another type, a large body, one that comes in pieces, a server that is closing) is the framework's, and so is every refusal
 * but one for asking too often.
 */
export function answerAhead(fastify: FastifyInstance, road: AheadRoad): void {
  const state = { isClosing: false };
  const framework = listenerOf(fastify.server);
  answerInFront(fastify, road, state);
  // A trace is told of requests as Node has them.
  const endPlain = road.tracing.isOn ? null : answerPlainly(fastify.server, framework, road, state);
  fastify.addHook('preClose', (done) => {
    state.isClosing = true;
    endPlain?.(DRAIN_MS);
    done();
  });
}

interface State {
  readonly isClosing: boolean;
}

/** Before Node has read anything. */
function answerPlainly(server: Server, framework: RequestListener, road: AheadRoad, state: State): (drainMs: number) => void {
  const { answers, besides, shedding } = road;
  return servePlainConnections(server, {
    paths: new Set([...answers.keys(), ...besides]),
    behind: framework,
    answer: (request, connection) => {
      const late = shedding.refusal();
      if (late !== null) return problemOut(late, requestIdOf(request), undefined, COME_AGAIN);
      const { path, headers, body } = request;
      const answer = state.isClosing || lengthOf(headers, road) === 0 ? undefined : answers.get(path);
      if (answer === undefined) return null;
      const startedAt = performance.now();
      const answered = answer({ headers, connection, body });
      return answered && outgoing(answered, { request: null, path, headers, startedAt }, road);
    },
  });
}

/** Of what Node has read. */
function answerInFront(fastify: FastifyInstance, road: AheadRoad, state: State): void {
  standInFront(fastify, (request, response, behind) => {
    const { url: path = '', headers } = request;
    const answer = request.method === 'POST' && !state.isClosing ? road.answers.get(path) : undefined;
    const length = answer === undefined ? 0 : lengthOf(headers, road);
    if (answer === undefined || length === 0) {
      behind();
      return;
    }
    const startedAt = performance.now();
    // Taken off by hand where it must be: `once` costs more than all that is done here.
    const take = (body: Buffer): void => {
      const answered = body.length === length && !state.isClosing ? ask(request, body, answer, road.tracing) : null;
      if (answered !== null) {
        writeInFront(response, outgoing(answered, { request, path, headers, startedAt }, road));
        return;
      }
      request.removeListener('data', take);
      giveBack(request, body, behind);
    };
    request.on('data', take);
  });
}

function ask(request: IncomingMessage, body: Buffer, answer: (asked: AheadRequest) => Answered | null, tracing: Tracing): Answered | null {
  const asked = { headers: request.headers, connection: request.socket, body };
  return tracing.isOn ? tracing.within(request, () => answer(asked)) : answer(asked);
}

/** The length of the body, or 0 for a request that is not meant. */
function lengthOf(headers: IncomingHttpHeaders, { maxBytes }: AheadRoad): number {
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
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly startedAt: number;
}

/** The answer as it goes out, counted and logged. */
function outgoing({ answer, headers: more, caller, afterwards }: Answered, { request, path, headers, startedAt }: Asking, { note }: AheadRoad): Outgoing {
  const requestId = requestIdOf({ headers });
  const traceId = request?.traceId;
  const isRefusal = answer instanceof AppError;
  const out = isRefusal ? problemOut(answer, requestId, traceId, more) : { status: answer.status, headers: ['x-request-id', requestId, ...more, ...answer.headers], body: answer.body };
  note({ request, requestId, method: 'POST', route: path, status: out.status, startedAt, caller });
  if (afterwards !== null) afterwards(requestId, traceId);
  return out;
}
