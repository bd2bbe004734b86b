import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
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
  /** Names and values in turn, which is how Node writes them fastest. */
  readonly headers: readonly string[];
  /** Null for none. */
  readonly body: Buffer | null;
}

/** An answer, and to whom. */
export interface Answered {
  readonly answer: AheadAnswer;
  readonly caller: LoggedCaller;
}

export interface AheadRoute {
  readonly path: string;
  readonly maxBytes: number;
  readonly note: NoteAnswered;
  /** Null sends the request on to the framework, as if nobody had looked at it: it must have no effect then. */
  readonly answer: (request: AheadRequest) => Answered | null;
}

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/iu;

/**
 * Answers a POST of JSON ahead of the framework where it can be answered at once and well. Whatever is out of the ordinary
 * (another type, a large body, one that comes in pieces, a server that is closing) is the framework's, and so is every refusal.
 */
export function answerAhead(fastify: FastifyInstance, route: AheadRoute): void {
  const { server } = fastify;
  const [framework] = server.listeners('request') as RequestListener[];
  if (framework === undefined) throw new Error('there is no framework to stand ahead of');
  let isClosing = false;
  fastify.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  server.removeListener('request', framework);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const length = isClosing ? 0 : lengthOf(request, route);
    if (length === 0) {
      framework(request, response);
      return;
    }
    const startedAt = performance.now();
    // Taken off by hand where it must be: `once` costs more than all that is done here.
    const take = (body: Buffer): void => {
      const answered = body.length === length && !isClosing ? route.answer({ headers: request.headers, connection: request.socket, body }) : null;
      if (answered !== null) {
        send(request, response, answered, startedAt, route);
        return;
      }
      request.removeListener('data', take);
      giveBack(request, body, () => framework(request, response));
    };
    request.on('data', take);
  });
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

function send(request: IncomingMessage, response: ServerResponse, { answer: { status, headers, body }, caller }: Answered, startedAt: number, { path, note }: AheadRoute): void {
  const requestId = requestIdOf(request);
  response.writeHead(status, ['x-request-id', requestId, ...headers]);
  response.end(body ?? undefined);
  note({ requestId, method: 'POST', route: path, status, startedAt, caller });
}
