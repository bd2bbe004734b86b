import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AgentTools } from '../../src/core/agent-document.js';
import { stateOf } from '../../src/core/agent-state.js';
import { isInternal } from '../../src/core/catalog.js';
import type { AgentSubject } from '../../src/core/pipeline.js';
import { agentStage, agentSubject, grantStage, judge } from '../../src/core/pipeline.js';
import { switchTool } from '../../src/core/switch.js';
import { NAMES, situation, subjectIn, viewOf } from './arbitraries.js';
import type { Situation } from './arbitraries.js';

const RUNS = { numRuns: 2_000 };
const name = fc.constantFrom(...NAMES);

const withTools = (given: Situation, tools: AgentTools): Situation => ({ ...given, document: { ...given.document, tools } });

function mainIn(given: Situation): AgentSubject {
  const { agents } = viewOf(given);
  const main = agents.get('main');
  if (main === undefined) throw new Error('no main agent');
  return agentSubject(agents, main);
}

/** The situation after a switch; null where it is refused. */
function switched(given: Situation, tool: string, on: boolean): Situation | null {
  const result = switchTool(tool, viewOf(given).byName.get(tool) ?? null, mainIn(given), on);
  return result === 'unknown' || 'lock' in result ? null : withTools(given, result.tools);
}

/** What every tool comes to. */
function standings(given: Situation, but?: string): unknown[] {
  const [subject, main] = [subjectIn(given), mainIn(given)];
  return subject.view.tools.filter((tool) => tool.name !== but).map((tool) => [tool.name, judge(tool, subject).refusal, stateOf(tool, main)]);
}

function listsWithout({ document: { tools } }: Situation, but: string): AgentTools {
  const without = (names: readonly string[]): string[] => names.filter((one) => one !== but);
  return { ...tools, enabled: without(tools.enabled), disabled: without(tools.disabled) };
}

describe('INVARIANT (switch)', () => {
  it('on gives a tool its grant, off takes it away, and no other tool is touched', () => {
    fc.assert(fc.property(situation(), name, fc.boolean(), (given, chosen, on) => {
      const after = switched(given, chosen, on);
      if (after === null) return;
      expect(standings(after, chosen)).toEqual(standings(given, chosen));
      expect(listsWithout(after, chosen)).toEqual(listsWithout(given, chosen));
      const tool = viewOf(given).byName.get(chosen);
      if (tool === undefined || isInternal(tool)) return;
      const subject = mainIn(after);
      expect(grantStage(tool, subject) === null && agentStage(tool, subject) === null).toBe(on);
    }), RUNS);
  });

  it('the other way and back again comes to an equivalent document', () => {
    fc.assert(fc.property(situation(), name, fc.boolean(), (given, chosen, on) => {
      const start = switched(given, chosen, on);
      const there = start && switched(start, chosen, !on);
      const back = there && switched(there, chosen, on);
      if (start === null || there === null) return;
      expect(back && standings(back)).toEqual(standings(start));
      expect(back && listsWithout(back, chosen)).toEqual(listsWithout(start, chosen));
    }), RUNS);
  });

  it('the same again changes nothing', () => {
    fc.assert(fc.property(situation(), name, fc.boolean(), (given, chosen, on) => {
      const once = switched(given, chosen, on);
      if (once !== null) expect(switched(once, chosen, on)?.document).toEqual(once.document);
    }), RUNS);
  });

  it('off never adds a tool that the agent has', () => {
    fc.assert(fc.property(situation(), name, (given, chosen) => {
      const after = switched(given, chosen, false);
      const has = (there: Situation): boolean => {
        const tool = viewOf(there).byName.get(chosen);
        return tool !== undefined && judge(tool, subjectIn(there)).refusal === null;
      };
      if (after !== null && has(after)) expect(has(given)).toBe(true);
    }), RUNS);
  });
});
