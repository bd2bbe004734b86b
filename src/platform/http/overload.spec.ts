import { describe, expect, it } from '@jest/globals';
import { Lateness } from './overload.js';

/** A turn of the event loop in which requests are taken one after another, each so many milliseconds after the one before. */
function setUp(mostMs: number) {
  const clock = { now: 0 };
  let atEnd: (() => void) | null = null;
  const lateness = new Lateness(mostMs, () => clock.now, (work) => (atEnd = work));
  return (count: number, eachMs: number): boolean[] => {
    const seen = Array.from({ length: count }, () => {
      const isTooLate = lateness.isTooLate();
      if (!isTooLate) clock.now += eachMs;
      return isTooLate;
    });
    atEnd?.();
    atEnd = null;
    clock.now += 1;
    return seen;
  };
}

const refused = (seen: readonly boolean[]): number => seen.filter(Boolean).length;

describe('a service that is late', () => {
  it('refuses nobody while turns are short', () => {
    const turn = setUp(100);
    for (let i = 0; i < 20; i += 1) expect(refused(turn(9, 10))).toBe(0);
  });

  it('refuses nobody for a single long turn, which may be one large request', () => {
    const turn = setUp(100);
    for (let i = 0; i < 5; i += 1) expect([refused(turn(1, 5_000)), refused(turn(5, 1)), refused(turn(18, 10)), refused(turn(5, 1))]).toEqual([0, 0, 0, 0]);
  });

  it('refuses what would wait too long when long turns follow one another, and no more of it', () => {
    const turn = setUp(100);
    expect([refused(turn(18, 10)), refused(turn(18, 10))]).toEqual([0, 0]);
    expect([refused(turn(18, 10)), refused(turn(18, 10))]).toEqual([7, 7]);
  });

  it('refuses within a turn that does not end, but not for one dear request in it', () => {
    expect(refused(setUp(100)(1_000, 10))).toBe(1_000 - 22);
    const turn = setUp(100);
    expect(refused(turn(1, 5_000))).toBe(0);
    const mixed = setUp(100);
    expect([refused(mixed(1, 5_000)), refused(mixed(20, 10))]).toEqual([0, 0]);
  });

  it('takes everybody again as soon as a turn is short', () => {
    const turn = setUp(100);
    for (let i = 0; i < 4; i += 1) turn(18, 10);
    expect([refused(turn(5, 10)), refused(turn(18, 10))]).toEqual([0, 0]);
  });
});
