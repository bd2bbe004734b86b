import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { serviceWith } from '../support/saved-situation.js';
import { NAMES, context, document, narrowing, situation } from './arbitraries.js';

const names = fc.uniqueArray(fc.constantFrom(...NAMES, 'ghost'), { maxLength: 6 });
const part = document.chain((whole) => fc.subarray(Object.keys(whole)).map((kept) => Object.fromEntries(Object.entries(whole).filter(([key]) => kept.includes(key)))));
const drafts = fc.record({
  draft: fc.option(part),
  draftAgentTools: fc.option(fc.record({ inheritCoreTools: fc.option(fc.boolean()), enabled: fc.option(names), disabled: fc.option(names) }, { requiredKeys: [] })),
  draftToolOverride: fc.option(fc.record({ toolName: fc.constantFrom(...NAMES), patch: fc.record({ promptHint: fc.constantFrom(null, 'mind this', ''), extra: fc.constantFrom(null, { workerRoutingStrategy: 'disabled' }, { allowInSubagent: false }) }, { requiredKeys: [] }) })),
});
const INCLUDE = ['tools', 'promptHints', 'reasons', 'profiles', 'routes', 'subagent', 'diagnostics', 'definitions'];

describe('INVARIANT (preview is decide)', () => {
  it('a preview has the bytes of decide after the save, tells the difference, and changes nothing', async () => {
    await fc.assert(fc.asyncProperty(situation(), drafts, context, narrowing, fc.boolean(), async (given, drafted, turn, narrowed, isSaved) => {
      const act = await serviceWith(given);
      const agentId = isSaved ? 'agent' : 'newcomer';
      const asked = { agentId, context: turn, ...narrowed, include: INCLUDE };
      const [before, all] = [await act('decide', asked), await act('decide', { agentId: 'agent' })];
      const { diff, ...preview } = await act('preview', { ...asked, ...drafted });
      expect([await act('decide', asked), await act('decide', { agentId: 'agent' })]).toEqual([before, all]);

      if (!isSaved) await act('put', { agentId });
      if (drafted.draft !== null) await act('patch', { agentId, ...drafted.draft });
      if (drafted.draftAgentTools !== null) await act('patch', { agentId, tools: drafted.draftAgentTools });
      if (drafted.draftToolOverride !== null) await act('patch', { agentId, toolOverrides: { [drafted.draftToolOverride.toolName]: drafted.draftToolOverride.patch } });
      const after = await act('decide', asked);
      expect(JSON.stringify({ ...preview, revision: 0 })).toBe(JSON.stringify({ ...after, revision: 0 }));
      const [had, has] = [before, after].map(({ toolNames }) => (toolNames ?? []) as string[]) as [string[], string[]];
      expect(diff).toEqual({ added: has.filter((name) => !had.includes(name)), removed: had.filter((name) => !has.includes(name)) });
    }), { numRuns: 100 });
  }, 120_000);
});
