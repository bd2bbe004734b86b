import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { Catch, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../errors/app-error.js';
import { AppError } from '../errors/app-error.js';
import { isDatabaseAway, problemOf } from '../errors/problem.js';
import type { Logger } from '../observability/logger.js';

const BY_STATUS: Readonly<Record<number, readonly [code: ErrorCode, detail: string]>> = {
  404: ['NOT_FOUND', 'there is no such route'],
  413: ['BODY_TOO_LARGE', 'the body is larger than this route takes'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'the body must be sent as `application/json`'],
};

/** What went wrong as the caller is told it; a driver's or a library's own words stay in the log. */
export function appErrorOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = statusOf(error);
  const known = BY_STATUS[status];
  if (known !== undefined) return new AppError(...known);
  if (status >= 400 && status < 500) return new AppError('BAD_REQUEST', 'the request can not be read');
  return isDatabaseAway(error) ? new AppError('DATABASE_UNAVAILABLE', 'try again shortly') : new AppError('INTERNAL', 'the fault is logged under the request id');
}

/** The status that the framework gave its own error, else 500. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : 500;
}

/** The one place where a failure becomes a response. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const known = appErrorOf(error);
    const problem = problemOf(known, request.id);
    if (problem.status >= 500) this.logger.error({ requestId: request.id, code: problem.code, err: error }, 'request failed');
    if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="toolcrib"');
    if (problem.status === 503) reply.header('retry-after', '1');
    void reply.status(problem.status).header('content-type', 'application/problem+json; charset=utf-8').send(JSON.stringify(problem));
  }
}
