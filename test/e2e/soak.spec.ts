import { expect, it } from '@jest/globals';
import type { Soaked } from '../soak/soak.js';
import { soak } from '../soak/soak.js';
import { describeWithServers } from '../support/fleet.js';

/** `npm run soak` sets it; ten seconds of the same load are part of every run of the suite. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 10);
const IS_LONG = process.env['SOAK_SECONDS'] !== undefined;
const LIMIT_MS = SECONDS * 1_000 + 240_000;

/** The first ones say it; a fault that repeats would fill the screen. */
const judge = ({ wrong, logged, summary }: Soaked, what: string): void => {
  process.stdout.write(`\n${what}: ${summary}\n`);
  for (const line of wrong.length === 0 ? [] : logged.slice(0, 5)) process.stdout.write(`logged: ${line}\n`);
  expect({ first: wrong.slice(0, 8), count: wrong.length }).toEqual({ first: [], count: 0 });
};

describeWithServers('three replicas with readers and writers at full speed', () => {
  it('answer every question right by the core, none older than a second, none below the revision it names, and lose no write', async () => {
    const soaked = await soak({ ms: SECONDS * 1_000, pace: null });
    judge(soaked, 'in fair weather');
    expect(soaked.run.failures).toEqual([]);
    for (const { reads, acknowledged } of soaked.run.tenants) expect([reads.length > 10, acknowledged.length > 5]).toEqual([true, true]);
  }, LIMIT_MS);

  it('do so while Redis, PostgreSQL and a replica are killed, hung, emptied and filled with rubbish in the middle', async () => {
    const pace = IS_LONG ? { brokenMs: 3_000, betweenMs: Math.max(2_000, SECONDS * 1_000 / 8 - 2_500) } : { brokenMs: 1_500, betweenMs: 1_500 };
    const soaked = await soak({ ms: SECONDS * 1_000, pace });
    judge(soaked, 'with faults');
    expect(soaked.run.faults).toHaveLength(7);
  }, LIMIT_MS);
});
