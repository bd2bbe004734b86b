import type { IncomingMessage } from 'node:http';
import type { Logger } from '../observability/logger.js';
import { AppError } from './app-error.js';
import type { Problem } from './problem.js';
import { isDatabaseAway, problemOf } from './problem.js';

const BY_STATUS: Readonly<Record<number, readonly [code: AppError['code'], detail: string]>> = {
  404: ['NOT_FOUND', 'there is no such route: `/docs` lists them'],
  413: ['BODY_TOO_LARGE', 'the body is larger than this route takes'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'the body must be sent as `application/json`'],
};

/** The status that the framework gave its own error, else 500. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500;
  const { statusCode, status } = error as { statusCode?: unknown; status?: unknown };
  return [statusCode, status].find((value) => typeof value === 'number') ?? 500;
}

/** What went wrong as the caller is told it; a driver's or a library's own words stay in the log. */
export function appErrorOf(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = statusOf(error);
  const known = BY_STATUS[status];
  if (known !== undefined) return new AppError(...known);
  if (status >= 400 && status < 500) return new AppError('BAD_REQUEST', 'the request can not be read');
  return isDatabaseAway(error) ? new AppError('DATABASE_UNAVAILABLE', 'try again shortly') : new AppError('INTERNAL', 'the fault is logged under the request id');
}

/** The request that something went wrong with. */
export interface FailedRequest {
  readonly id: string;
  readonly raw: IncomingMessage;
}

/** Turns whatever was thrown into the problem that is answered. What is this service's own fault is logged, on every road. */
export class Problems {
  constructor(private readonly logger: Logger) {}

  of(error: unknown, { id: requestId, raw: { traceId } }: FailedRequest): Problem {
    const known = appErrorOf(error);
    const problem = problemOf(known, requestId, traceId);
    if (problem.code === 'INTERNAL') this.logger.error({ requestId, traceId, err: error }, 'request failed');
    else if (problem.status >= 500) this.logger.warn({ requestId, traceId, code: problem.code, reason: error instanceof Error ? error.message : String(error) }, 'request failed');
    return problem;
  }
}
