import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from './app-error.js';

/** The work's own result, or `DATABASE_UNAVAILABLE` after that long: a hung database is a failed one. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: stop.signal, ref: false }).then(() => {
    throw new AppError('DATABASE_UNAVAILABLE', 'the database does not answer');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
  }
}
