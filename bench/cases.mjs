import { CoreWorld } from '../dist-bench/test/support/core-world.js';
import { readCases } from '../dist-bench/test/support/case-file.js';
import { microseconds } from './support.mjs';

/** The very cases of the tests: each set up on the core once, then its last decide or check again and again. */
export async function benchCases() {
  const questions = [];
  for (const { steps } of readCases()) {
    const world = await CoreWorld.open();
    for (const step of steps) await world.do(step);
    const last = steps.findLast(({ action }) => action === 'decide' || action === 'check');
    if (last !== undefined) questions.push({ world, last });
  }
  let asked = 0;
  const us = microseconds(() => {
    const { world, last } = questions[asked % questions.length];
    asked += 1;
    void world.do(last);
  }, questions.length * 10);
  console.log(`${questions.length} cases with a question: ${us.toFixed(1)} µs each`);
}
