import { setImmediate as nextTurn } from 'node:timers/promises';
import { unique } from '../core/json.js';
import type { PolicyDelta } from '../core/policy-view.js';
import type { Engines } from '../engines/engines.js';
import type { PolicyLoader } from './policy.loader.js';

/** For the conditions of one reading, and between two turns of others. What is not compiled by then is when it is first asked for. */
const LIMIT_MS = 2_000;
const TURN_MS = 10;

/** Has the conditions of what was read compiled before anything is decided by them: one decision has no time for thousands. */
export const compilingConditions = (loader: PolicyLoader, engines: Pick<Engines, 'checkCondition'>): PolicyLoader => ({
  load: async (tenant, since) => {
    const delta = await loader.load(tenant, since);
    if (delta !== null && delta !== 'unchanged') await compile(conditionsOf(delta), engines);
    return delta;
  },
});

const conditionsOf = ({ tools }: PolicyDelta): string[] =>
  unique(tools.flatMap(({ declaration: { active, intent } }) => [active, intent?.when ?? null])).filter((condition) => condition !== null);

async function compile(conditions: readonly string[], { checkCondition }: Pick<Engines, 'checkCondition'>): Promise<void> {
  const start = performance.now();
  let turn = start;
  for (const condition of conditions) {
    checkCondition(condition);
    const now = performance.now();
    if (now - start >= LIMIT_MS) return;
    if (now - turn < TURN_MS) continue;
    await nextTurn();
    turn = performance.now();
  }
}
