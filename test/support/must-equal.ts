import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';

/**
 * `expect(got).toEqual(wanted)` for properties, which say it a hundred thousand times: an expectation is dear to make, and is made
 * only where it may have something to show. What is strictly equal is equal.
 */
export function mustEqual(got: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(got, wanted)) expect(got).toEqual(wanted);
}
