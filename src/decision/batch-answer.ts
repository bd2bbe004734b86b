import { AppError } from '../platform/errors/app-error.js';
import type { Problem } from '../platform/errors/problem.js';
import type { Told } from './decision.service.js';

/** Answers as they are sent, each as text at once: a hundred that fit one by one need not fit together. Beyond the limit they are told as problems. */
export function tellWithin(bytes: number, problemOf: (error: unknown) => Problem): Told<string> {
  let left = bytes;
  return {
    ok: (decision) => {
      const text = JSON.stringify({ ok: decision });
      const size = Buffer.byteLength(text);
      if (size > left) throw new AppError('LIMIT_EXCEEDED', `the answers of a batch hold at most ${bytes} bytes together: ask for less at once`);
      left -= size;
      return text;
    },
    failed: (error) => JSON.stringify({ error: problemOf(error) }),
  };
}
