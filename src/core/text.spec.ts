import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLongerThan, pointer } from './text.js';

describe('texts', () => {
  it('are as long as their UTF-8', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 40 }), (text, limit) => {
      expect(isLongerThan(text, limit)).toBe(Buffer.byteLength(text, 'utf8') > limit);
    }), { numRuns: 2_000 });
  });

  it('point at members whatever they are called', () => {
    expect(pointer('/a', 'b/c~d')).toBe('/a/b~1c~0d');
  });
});
