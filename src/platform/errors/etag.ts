import { AppError } from './app-error.js';

/** A governed thing's ETag: the revision at which it last changed. */
export const etagOf = (revision: number): string => `"${revision}"`;

/** Whether an `If-Match` list names the ETag. A weak one never matches. */
const names = (ifMatch: string, etag: string): boolean => ifMatch.split(',').some((part) => part.trim() === etag || part.trim() === '*');

/** Throws 428 without an `If-Match`, 412 with one that names another state. */
export function requireMatch(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '') throw new AppError('IF_MATCH_REQUIRED', 'send the `ETag` of your last reading as `If-Match`');
  if (names(ifMatch, etagOf(revision))) return;
  throw new AppError('PRECONDITION_FAILED', ifMatch.includes('"') ? 'read it again and repeat the change on what is there now' : 'send the `ETag` as it came, with its quotes');
}

/** Whether an `If-None-Match` list names the ETag, weak or not. `*` names none: it asks whether there is anything, which a question never does. */
export const isNamedIn = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && (ifNoneMatch === etag || ifNoneMatch.split(',').some((part) => part.trim().replace(/^W\//u, '') === etag));
