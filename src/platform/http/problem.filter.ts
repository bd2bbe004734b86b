import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '../errors/problem.js';
import type { Problems } from '../errors/problems.js';

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="toolcrib"');
  if (problem.status === 503) reply.header('retry-after', '1');
  void reply.status(problem.status).header('content-type', 'application/problem+json; charset=utf-8').send(JSON.stringify(problem));
}

/** The one place where a failure becomes a response. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly problems: Problems) {}

  catch(error: unknown, host: ArgumentsHost): void {
    sendProblem(host.switchToHttp().getResponse<FastifyReply>(), this.problems.of(error, host.switchToHttp().getRequest<FastifyRequest>()));
  }
}
