import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AppError } from '../errors/app-error.js';
import { problemOf } from '../errors/problem.js';

/** What stands between the server and whoever answered its requests so far. */
export type Front = (request: IncomingMessage, response: ServerResponse, behind: () => void) => void;

/** The last that is put there sees a request first. */
export function standInFront({ server }: FastifyInstance, front: Front): void {
  const behind = listenerOf(server);
  server.removeListener('request', behind);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => front(request, response, () => behind(request, response)));
}

/** Who answers the requests of a server so far. */
export function listenerOf(server: FastifyInstance['server']): RequestListener {
  const [listener] = server.listeners('request') as RequestListener[];
  if (listener === undefined) throw new Error('there is nobody who answers');
  return listener;
}

/** Headers as a list of names and values in turn, which is how Node writes them fastest. */
export type HeaderList = readonly string[];

/** The same through the framework. */
export function setHeaders(reply: FastifyReply, headers: HeaderList): void {
  for (let i = 0; i + 1 < headers.length; i += 2) reply.header(headers[i] ?? '', headers[i + 1]);
}

/** An answer that needs no framework. */
export interface Outgoing {
  readonly status: number;
  readonly headers: HeaderList;
  /** Null for none. */
  readonly body: Buffer | null;
}

export function problemOut(error: AppError, requestId: string, traceId: string | undefined, headers: HeaderList): Outgoing {
  const problem = problemOf(error, requestId, traceId);
  const body = Buffer.from(JSON.stringify(problem));
  return { status: problem.status, headers: ['x-request-id', requestId, 'content-type', 'application/problem+json; charset=utf-8', 'content-length', String(body.length), ...headers], body };
}

/** Without the framework, which is a fifth of the work. */
export function writeInFront(response: ServerResponse, { status, headers, body }: Outgoing): void {
  response.writeHead(status, headers as string[]);
  response.end(body ?? undefined);
}
