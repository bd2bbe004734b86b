import type { AppError, ErrorCode, FieldFault } from './app-error.js';
import { ERRORS } from './app-error.js';

/** RFC 9457. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly FieldFault[];
}

export function problemOf({ code, detail, errors }: AppError, requestId: string): Problem {
  const { status, title } = ERRORS[code];
  return { type: `urn:toolcrib:error:${code.toLowerCase().replaceAll('_', '-')}`, title, status, detail, code, requestId, ...(errors && { errors }) };
}

const UNREACHABLE = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', '57P01', '57P03', '53300']);
const UNREACHABLE_TEXT = /terminat|timeout|timed out|ECONNREFUSED|connection (?:error|is not queryable|ended)|server has closed|can't reach database|not queryable/iu;

/** Whether a driver's error means that the database is away, rather than that a query is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && UNREACHABLE.has(code)) return true;
  return UNREACHABLE_TEXT.test(error.message) || isDatabaseAway(error.cause);
}
