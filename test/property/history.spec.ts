import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CoreWorld } from '../support/core-world.js';
import type { Step } from '../support/case-file.js';
import { AGENTS, NAMES, context, document } from './arbitraries.js';

type Json = Record<string, any>;

const step = (action: Step['action'], input: Json): Step => ({ action, input, want: {} }) as Step;

const name = fc.constantFrom(...NAMES);
const agentId = fc.constantFrom(...AGENTS);
const source = fc.constantFrom('runtime', 'other');

const declared = fc.record({
  description: fc.constantFrom('one', 'two'),
  isCore: fc.boolean(),
  canDisable: fc.boolean(),
  status: fc.constantFrom('enabled', 'enabled', 'disabled'),
  sort: fc.integer({ min: 0, max: 2 }),
  promptHint: fc.constantFrom(null, 'mind this'),
  loadingCategory: fc.constantFrom(null, 'k'),
});
const categories = fc.constantFrom(undefined, undefined, [{ key: 'k', label: 'K', whenToUse: 'w' }], [{ key: 'k', label: 'Other', whenToUse: 'v' }, { key: 'l', label: 'L', whenToUse: 'w' }]);
const sync = fc.record({ source, mode: fc.constantFrom('full', 'full', 'partial'), names: fc.subarray(NAMES), declared: fc.array(declared, { minLength: 3, maxLength: 3 }), categories })
  .map(({ names, declared: words, categories: given, ...rest }) => step('sync', { ...rest, confirmRemovals: true, categories: given ?? null, tools: names.map((tool, i) => ({ name: tool, ...words[i % words.length] })) }));

const overrides = fc.record({ status: fc.constantFrom('enabled', 'disabled', null), label: fc.constantFrom('Ours', null), isCore: fc.constantFrom(true, null), sort: fc.constantFrom(3, null) }, { requiredKeys: [] });
const settings = fc.record({ maxSubagentDepth: fc.integer({ min: 0, max: 3 }), childWithinParent: fc.boolean(), defaultExposure: fc.constantFrom('all', 'search', 'deferred'), alwaysInitial: fc.subarray(['a', 'b']) }, { requiredKeys: [] });

const write: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: sync },
  { weight: 3, arbitrary: fc.tuple(agentId, document).map(([id, { displayName: _, ...saved }]) => step('put', { agentId: id, ...saved })) },
  fc.tuple(fc.subarray(AGENTS), document).map(([ids, saved]) => step('import', { agents: ids.map((id) => ({ agentId: id, ...saved })) })),
  fc.tuple(agentId, fc.subarray(['default'])).map(([id, toolsets]) => step('put', { agentId: id, toolsets, force: true })),
  agentId.map((id) => step('deleteAgent', { name: id })),
  fc.tuple(agentId, name, fc.boolean()).map(([id, tool, on]) => step('switch', { agentId: id, name: tool, on })),
  fc.tuple(name, overrides).map(([tool, patch]) => step('governance', { name: tool, ...patch })),
  name.map((tool) => step('deleteTool', { name: tool })),
  settings.map((patch) => step('settings', patch)),
);

const EVERYTHING = ['tools', 'promptHints', 'reasons', 'profiles', 'routes', 'subagent', 'diagnostics', 'definitions'];

/** All that the tenant's decisions say, in one text: of every agent, in some contexts, but for the revision. */
async function projection(world: CoreWorld, contexts: readonly unknown[]): Promise<string> {
  const answers: unknown[] = [await world.do(step('registry', {}))];
  for (const id of AGENTS) {
    for (const given of contexts) {
      const { revision: _, ...answer } = await world.do(step('decide', { agentId: id, context: given, include: EVERYTHING }));
      answers.push(answer);
    }
  }
  return JSON.stringify(answers);
}

const revisionOf = async (world: CoreWorld): Promise<number> => {
  const { items } = await world.do(step('history', {}));
  return (items as Json[])[0]?.['revision'] ?? 0;
};

const contexts = fc.array(context, { minLength: 1, maxLength: 2 }).map((given) => [{}, ...given]);
const RUNS = { numRuns: 60 };

describe('INVARIANT (history)', () => {
  it('each revision has exactly one entry, whatever is written', async () => {
    await fc.assert(fc.asyncProperty(fc.array(write, { maxLength: 12 }), async (writes) => {
      const world = await CoreWorld.open();
      let last = 0;
      for (const each of writes) last = Number((await world.do(each))['revision'] ?? last);
      const { items } = await world.do(step('history', {}));
      expect((items as Json[]).map(({ revision }) => revision)).toEqual(Array.from({ length: last }, (_, i) => last - i));
    }), RUNS);
  });
});

describe('INVARIANT (revert)', () => {
  it('the revert of a write gives the very decisions of before it, byte for byte, and its own revert those of after', async () => {
    await fc.assert(fc.asyncProperty(fc.array(write, { maxLength: 8 }), write, contexts, async (earlier, last, asked) => {
      const world = await CoreWorld.open();
      for (const each of earlier) await world.do(each);
      const from = await revisionOf(world);
      const before = await projection(world, asked);
      await world.do(last);
      const to = await revisionOf(world);
      const after = await projection(world, asked);
      const undo = async (first: number, revision: number): Promise<void> => {
        for (let i = revision; i > first; i -= 1) expect(await world.do(step('revert', { revision: i }))).toMatchObject({ reverts: i, changed: true });
      };
      await undo(from, to);
      expect(await projection(world, asked)).toBe(before);
      await undo(to, await revisionOf(world));
      expect(await projection(world, asked)).toBe(after);
    }), RUNS);
  });

  it('everything, taken back entry by entry, leaves nothing', async () => {
    await fc.assert(fc.asyncProperty(fc.array(write, { maxLength: 12 }), async (writes) => {
      const world = await CoreWorld.open();
      const before = await projection(world, [{}]);
      for (const each of writes) await world.do(each);
      for (let revision = await revisionOf(world); revision > 0; revision -= 1) {
        expect(await world.do(step('revert', { revision }))).toMatchObject({ changed: true });
      }
      expect(await projection(world, [{}])).toBe(before);
    }), RUNS);
  });
});
