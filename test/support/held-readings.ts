import type { ReadingsOptions } from '../../src/platform/readings/readings.js';
import { Readings } from '../../src/platform/readings/readings.js';

export interface Thing {
  readonly text: string;
  readonly size?: number;
}

/** Readings of a database that the test holds in its hand: looks answer, or fail, when they are let go. */
export const heldReadings = (options: Partial<ReadingsOptions<string, Thing>> = {}) => {
  const database = new Map<string, Thing>([['k', { text: 'old' }]]);
  const state = { now: 1_000, isBroken: false, looks: 0, atOnce: 0, mostAtOnce: 0 };
  const held: (() => void)[] = [];
  let isHeld = false;
  const load = async (key: string): Promise<Thing | null> => {
    state.looks += 1;
    state.mostAtOnce = Math.max(state.mostAtOnce, (state.atOnce += 1));
    const [found, isBroken] = [database.get(key) ?? null, state.isBroken];
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
    state.atOnce -= 1;
    if (isBroken) throw new Error('ECONNREFUSED');
    return found;
  };
  const readings = new Readings<string, Thing>({ load, freshMs: 200, maxStalenessMs: 30_000, maxSize: 10, sizeOf: ({ size = 1 }) => size, keepsAbsent: true, now: () => state.now, ...options });
  return {
    database, state, readings,
    hold: () => (isHeld = true),
    letGo: () => {
      isHeld = false;
      for (const resolve of held.splice(0)) resolve();
    },
    settle: () => new Promise(setImmediate),
  };
};
