import { AppError } from '../platform/errors/app-error.js';
import type { Problem } from '../platform/errors/problem.js';
import type { MadeInBatch, Told } from './decision.service.js';

/** Answers as they are sent, each as text at once: a hundred that fit one by one need not fit together. Beyond the limit they are told as problems. */
export function tellWithin(bytes: number, problemOf: (error: unknown) => Problem, note: (made: MadeInBatch, written: string) => void): Told<string> {
  let left = bytes;
  return {
    ok: (decision, made) => {
      const written = JSON.stringify(decision);
      const text = `{"ok":${written}}`;
      const size = Buffer.byteLength(text);
      if (size > left) throw new AppError('LIMIT_EXCEEDED', `the answers of a batch hold at most ${bytes} bytes together: ask for less at once`);
      left -= size;
      note(made, written);
      return text;
    },
    failed: (error) => JSON.stringify({ error: problemOf(error) }),
  };
}
