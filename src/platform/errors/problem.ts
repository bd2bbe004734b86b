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
  /** Where the request is traced. */
  readonly traceId?: string;
  readonly errors?: readonly FieldFault[];
  readonly pending?: readonly string[];
}

/** More would help nobody, and a hostile body has as many as it likes. */
const MAX_FAULTS = 100;

export const problemType = (code: ErrorCode): string => `urn:toolcrib:error:${code.toLowerCase().replaceAll('_', '-')}`;

export function problemOf({ code, detail, errors, pending }: AppError, requestId: string, traceId?: string): Problem {
  const { status, title } = ERRORS[code];
  return { type: problemType(code), title, status, detail, code, requestId, ...(traceId !== undefined && { traceId }), ...(errors && { errors: errors.slice(0, MAX_FAULTS) }), ...(pending && { pending }) };
}

/** SQLSTATEs, Prisma's codes and kinds, and the system's. */
const AWAY = new Set([
  'P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH',
  '57P01', '57P02', '57P03', '53300', '08000', '08003', '08006', 'DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections',
]);
/** Where the driver gives no code, its sentences: as they begin, or as Prisma passes them on. */
const AWAY_WORDS = /(?:^|Message: `)(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end|Query read timeout|Server has closed the connection)/u;
const MAX_CAUSES = 5;

/** Whether a driver's error means that the database is away, rather than that a query is wrong. */
export function isDatabaseAway(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_CAUSES) return false;
  const { code, originalCode, kind, message, cause, meta } = error as Partial<Record<'code' | 'originalCode' | 'kind' | 'message' | 'cause' | 'meta', unknown>>;
  if ([code, originalCode, kind].some((name) => typeof name === 'string' && AWAY.has(name))) return true;
  return (typeof message === 'string' && AWAY_WORDS.test(message)) || [cause, wrappedIn(meta)].some((inner) => isDatabaseAway(inner, depth + 1));
}

/** Where Prisma keeps what the driver said. */
const wrappedIn = (meta: unknown): unknown => (typeof meta === 'object' && meta !== null ? (meta as { driverAdapterError?: unknown }).driverAdapterError : undefined);
