import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { own } from '../../src/core/json.js';
import type { DoStep } from '../support/saved-situation.js';
import { serviceWith } from '../support/saved-situation.js';
import { NAMES, context, settings, situation } from './arbitraries.js';

type Json = Record<string, unknown>;
type Reasons = Readonly<Record<string, { readonly code: string }>>;

const AGENTS = ['agent', 'child', 'other', 'parent'];

const governancePatch = fc.record({
  status: fc.constantFrom(null, 'enabled', 'disabled'), isCore: fc.option(fc.boolean()), canDisable: fc.option(fc.boolean()), sort: fc.constantFrom(null, 5), label: fc.constantFrom(null, 'L'),
  extra: fc.constantFrom(null, { allowInSubagent: false }, { workerRoutingStrategy: 'disabled' }, { allowInSubagent: true, workerRoutingStrategy: 'auto' }),
}, { requiredKeys: [] });
const settingsPatch = settings.chain(({ intentDelegates: _, ...whole }) => fc.subarray(Object.entries(whole)).map((kept) => Object.fromEntries(kept)));
const contexts = fc.option(fc.array(context, { minLength: 1, maxLength: 3 }));

/** What every agent has in each context, and why not the rest. */
async function decideAll(act: DoStep, turns: readonly unknown[]): Promise<(readonly [agentId: string, context: number, has: readonly string[], reasons: Reasons])[]> {
  const all = AGENTS.flatMap((agentId) => turns.map((turn, i) => [agentId, i, turn] as const));
  return Promise.all(all.map(async ([agentId, i, turn]) => {
    const { toolNames, disabledReasons } = await act('decide', { agentId, context: turn, include: ['reasons'] });
    return [agentId, i, toolNames as string[], disabledReasons as Reasons] as const;
  }));
}

/** The same, read off two decides for each agent and context. */
function compared(now: Awaited<ReturnType<typeof decideAll>>, then: Awaited<ReturnType<typeof decideAll>>): Json[] {
  const changes = now.flatMap(([agentId, turn, had, whyNot], i) => {
    const [, , has = [], whyNotThen = {}] = then[i] ?? [];
    const gained = has.filter((name) => !had.includes(name)).map((name) => ({ agentId, context: turn, change: 'gained', now: own(whyNot, name)?.code, then: 'OK', name }));
    const lost = had.filter((name) => !has.includes(name)).map((name) => ({ agentId, context: turn, change: 'lost', now: 'OK', then: own(whyNotThen, name)?.code, name }));
    return [...gained, ...lost];
  });
  return changes.sort(byText);
}

const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

const flat = (agents: readonly { agentId: string; changes: readonly (Json & { tools: readonly string[] })[] }[]): Json[] =>
  agents.flatMap(({ agentId, changes }) => changes.flatMap(({ tools, context: turn, change, now, then }) => tools.map((name) => ({ agentId, context: turn, change, now, then, name })))).sort(byText);

async function judge(act: DoStep, ask: 'toolImpact' | 'settingsImpact', name: string, patch: Json, turns: readonly unknown[] | null): Promise<void> {
  const before = await decideAll(act, turns ?? [null]);
  const impact = await act(ask, { ...(ask === 'toolImpact' && { toolName: name }), patch, ...(turns !== null && { contexts: turns }) });
  const { revision } = await act('decide', {});
  expect(impact['revision']).toBe(revision);
  expect(await decideAll(act, turns ?? [null])).toEqual(before);
  await act(ask === 'toolImpact' ? 'governance' : 'settings', { ...(ask === 'toolImpact' && { name }), ...patch });
  const changes = compared(before, await decideAll(act, turns ?? [null]));
  expect(flat(impact['agents'] as never)).toEqual(changes);
  const agentsWith = (change?: string): number => new Set(changes.filter((one) => change === undefined || one['change'] === change).map(({ agentId }) => agentId)).size;
  expect(impact['counts']).toEqual({ agents: AGENTS.length, changed: agentsWith(), gained: agentsWith('gained'), lost: agentsWith('lost') });
}

describe('INVARIANT (impact is decide twice)', () => {
  it('of a tool: what is told before is what decide says afterwards', async () => {
    await fc.assert(fc.asyncProperty(situation(), fc.constantFrom(...NAMES), governancePatch, contexts, async (given, name, patch, turns) => {
      if (!given.records.some((record) => record.name === name)) return;
      await judge(await serviceWith(given), 'toolImpact', name, patch, turns);
    }), { numRuns: 80 });
  }, 120_000);

  it('of settings: what is told before is what decide says afterwards', async () => {
    await fc.assert(fc.asyncProperty(situation(), settingsPatch, contexts, async (given, patch, turns) => {
      await judge(await serviceWith(given), 'settingsImpact', '', patch, turns);
    }), { numRuns: 60 });
  }, 120_000);
});
