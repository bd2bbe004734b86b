import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet, Replica, Servers } from '../support/fleet.js';
import { any } from './crib.js';
import type { Fault } from './record.js';

/** How long things stay broken, and how long the service has before the next fault. */
export interface Pace {
  readonly brokenMs: number;
  readonly betweenMs: number;
}

type Break = (servers: Servers, fleet: Fleet, brokenMs: number) => Promise<void>;

const DATABASE_AND_REDIS: readonly (readonly [name: string, of: Fault['of'], Break])[] = [
  ['Redis is killed and comes back', 'redis', async ({ redis }, _, ms) => {
    await redis.kill();
    await sleep(ms);
    await redis.restart();
  }],
  ['PostgreSQL is killed and comes back', 'database', async ({ postgres }, _, ms) => {
    await postgres.kill();
    await sleep(ms);
    await postgres.restart();
  }],
  ['Redis hangs', 'redis', async ({ redis }, _, ms) => {
    redis.pause();
    await sleep(ms);
    redis.resume();
  }],
  ['Redis is flushed', 'redis', ({ redis }) => redis.flush()],
  ['Redis is filled with rubbish', 'redis', async ({ redis }) => {
    for (let i = 0; i < 5; i += 1) {
      await redis.fillWithRubbish();
      await sleep(100);
    }
  }],
  ['PostgreSQL hangs', 'database', async ({ postgres }, _, ms) => {
    postgres.pause();
    await sleep(ms);
    postgres.resume();
  }],
];

/** Breaks one thing after another, each while all the others are well, and tells when. */
export async function breakEverything(servers: Servers, fleet: Fleet, { brokenMs, betweenMs }: Pace, warmUp: (replica: Replica) => Promise<void>, tell: (fault: Fault) => void): Promise<void> {
  for (const [name, of, run] of DATABASE_AND_REDIS) {
    await sleep(betweenMs);
    const from = performance.now();
    await run(servers, fleet, brokenMs);
    tell({ name, of, from, to: performance.now() });
  }
  await sleep(betweenMs);
  const victim = any(fleet.replicas);
  const from = performance.now();
  await fleet.kill(victim);
  tell({ name: 'a replica is killed in the middle of writes', of: 'replica', from, to: performance.now(), url: victim.url });
  await fleet.add({}, warmUp);
  await sleep(betweenMs);
}
