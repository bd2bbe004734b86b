import { describe, it } from '@jest/globals';
import { readCases } from '../support/case-file.js';
import { runCase } from '../support/case-runner.js';
import { CoreWorld } from '../support/core-world.js';

describe('cases on the core', () => {
  it.each(readCases().map((one) => [one.file, one] as const))('%s', async (_, one) => {
    await runCase(one, await CoreWorld.open());
  });
});
