import { setImmediate as othersTurn } from 'node:timers/promises';

/** How long other requests wait at most while something is built. */
const STRETCH_MS = 8;

/** Long work in short stretches: `await pace.step()` after each piece lets others have their turn when it is due. */
export class Pace {
  private until = performance.now() + STRETCH_MS;

  async step(): Promise<void> {
    if (performance.now() < this.until) return;
    await othersTurn();
    this.until = performance.now() + STRETCH_MS;
  }
}
