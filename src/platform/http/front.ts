import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AppError } from '../errors/app-error.js';
import { problemOf } from '../errors/problem.js';

/** What stands between the server and whoever answered its requests so far. */
export type Front = (request: IncomingMessage, response: ServerResponse, behind: () => void) => void;

/** The last that is put there sees a request first. */
export function standInFront({ server }: FastifyInstance, front: Front): void {
  const [behind] = server.listeners('request') as RequestListener[];
  if (behind === undefined) throw new Error('there is nobody to stand in front of');
  server.removeListener('request', behind);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => front(request, response, () => behind(request, response)));
}

/** Headers as a list of names and values in turn, which is how Node writes them fastest. */
export type HeaderList = readonly string[];

/** The same through the framework. */
export function setHeaders(reply: FastifyReply, headers: HeaderList): void {
  for (let i = 0; i + 1 < headers.length; i += 2) reply.header(headers[i] ?? '', headers[i + 1]);
}

/** A refusal without the framework, which is a fifth of the work. */
export function refuseInFront(response: ServerResponse, error: AppError, requestId: string, headers: HeaderList): number {
  const problem = problemOf(error, requestId, response.req.traceId);
  const body = Buffer.from(JSON.stringify(problem));
  response.writeHead(problem.status, ['x-request-id', requestId, 'content-type', 'application/problem+json; charset=utf-8', 'content-length', String(body.length), ...headers]);
  response.end(body);
  return problem.status;
}
