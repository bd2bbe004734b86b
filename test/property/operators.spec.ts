import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AgentTools } from '../../src/core/agent-document.js';
import { stateOf } from '../../src/core/agent-state.js';
import { applyBulkAction, BULK_ACTIONS } from '../../src/core/bulk-actions.js';
import { isInternal } from '../../src/core/catalog.js';
import { decide } from '../../src/core/decide.js';
import { diagnoseTools } from '../../src/core/diagnostic.js';
import type { EditorTool, EditorView } from '../../src/core/editor-view.js';
import { EDITOR_STATUSES, editorView } from '../../src/core/editor-view.js';
import type { AgentSubject } from '../../src/core/pipeline.js';
import { agentStage, agentSubject, asMainAgent, grantStage, judge, refusalByConfiguration } from '../../src/core/pipeline.js';
import type { PolicyAgent, PolicyView } from '../../src/core/policy-view.js';
import { INCLUDES } from '../../src/core/request.js';
import { switchTool } from '../../src/core/switch.js';
import { mustEqual } from '../support/must-equal.js';
import { NAMES, situation, subjectIn, viewOf } from './arbitraries.js';
import type { Situation } from './arbitraries.js';

const RUNS = { numRuns: 2_000 };
const name = fc.constantFrom(...NAMES);

const withTools = (given: Situation, tools: AgentTools): Situation => ({ ...given, document: { ...given.document, tools } });

function mainOf({ agents }: PolicyView): PolicyAgent {
  const main = agents.get('main');
  if (main === undefined) throw new Error('no main agent');
  return main;
}

function mainIn(given: Situation): AgentSubject {
  const view = viewOf(given);
  return agentSubject(view.agents, mainOf(view));
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
      mustEqual(standings(after, chosen), standings(given, chosen));
      mustEqual(listsWithout(after, chosen), listsWithout(given, chosen));
      const tool = viewOf(given).byName.get(chosen);
      if (tool === undefined || isInternal(tool)) return;
      const subject = mainIn(after);
      mustEqual(grantStage(tool, subject) === null && agentStage(tool, subject) === null, on);
    }), RUNS);
  });

  it('the other way and back again comes to an equivalent document', () => {
    fc.assert(fc.property(situation(), name, fc.boolean(), (given, chosen, on) => {
      const start = switched(given, chosen, on);
      const there = start && switched(start, chosen, !on);
      const back = there && switched(there, chosen, on);
      if (start === null || there === null) return;
      mustEqual(back && standings(back), standings(start));
      mustEqual(back && listsWithout(back, chosen), listsWithout(start, chosen));
    }), RUNS);
  });

  it('the same again changes nothing', () => {
    fc.assert(fc.property(situation(), name, fc.boolean(), (given, chosen, on) => {
      const once = switched(given, chosen, on);
      if (once !== null) mustEqual(switched(once, chosen, on)?.document, once.document);
    }), RUNS);
  });

  it('off never adds a tool that the agent has', () => {
    fc.assert(fc.property(situation(), name, (given, chosen) => {
      const after = switched(given, chosen, false);
      const has = (there: Situation): boolean => {
        const tool = viewOf(there).byName.get(chosen);
        return tool !== undefined && judge(tool, subjectIn(there)).refusal === null;
      };
      if (after !== null && has(after)) mustEqual(has(given), true);
    }), RUNS);
  });
});

const filter = fc.record({ search: fc.option(fc.constantFrom('a', 'does', '事', 'no such'), { nil: undefined }), status: fc.option(fc.constantFrom(...EDITOR_STATUSES), { nil: undefined }), core: fc.option(fc.boolean(), { nil: undefined }) });

function edited(given: Situation, by = {}): EditorView {
  const view = viewOf(given);
  return editorView(view, mainOf(view), by, 'en');
}

const counted = (tool: EditorTool): boolean => tool.available && tool.blockedBy === null && ['default_enabled', 'agent_enabled'].includes(tool.state);

describe('INVARIANT (editor)', () => {
  it('a tool counts as enabled exactly when it passes stages 0 to 4 for the agent as a main agent', () => {
    fc.assert(fc.property(situation(), (given) => {
      const view = viewOf(given);
      const main = asMainAgent(view, mainOf(view));
      const passing = view.tools.filter((tool) => refusalByConfiguration(tool, main) === null).map((tool) => tool.name);
      mustEqual([...edited(given).enabledTools].sort(), passing.sort());
    }), RUNS);
  });

  it('every count is a recount from the rows', () => {
    fc.assert(fc.property(situation(), (given) => {
      const { summary, enabledTools, categories, tools } = edited(given);
      const available = tools.filter((tool) => tool.available);
      const core = available.filter(({ isCore }) => isCore);
      expect(summary).toEqual({
        total: available.length, enabled: available.filter(counted).length, core: core.length, coreEnabled: core.filter(counted).length,
        agentDisabled: available.filter(({ state }) => state === 'agent_disabled').length,
        globallyDisabled: available.filter(({ state }) => state === 'globally_disabled').length,
        unknownNames: summary.unknownNames,
      });
      mustEqual(enabledTools.length, summary.enabled);
      mustEqual(categories.reduce((sum, { total }) => sum + total, 0), summary.total);
      mustEqual(categories.reduce((sum, { enabled }) => sum + enabled, 0), summary.enabled);
      mustEqual(summary.unknownNames.filter((one) => given.records.some((record) => record.name === one)), []);
    }), RUNS);
  });

  it('a filter keeps rows of the whole view, in their order, and touches nothing else', () => {
    fc.assert(fc.property(situation(), filter, (given, by) => {
      const [{ tools: all, ...whole }, { tools, ...rest }] = [edited(given), edited(given, by)];
      mustEqual(rest, whole);
      const kept = new Set(tools.map((tool) => tool.name));
      mustEqual(tools, all.filter((tool) => kept.has(tool.name)));
    }), RUNS);
  });

  it('the order in which tools were synced has no meaning, and internal ones are nowhere', () => {
    fc.assert(fc.property(situation(), (given) => {
      const view = edited(given);
      mustEqual(JSON.stringify(edited({ ...given, records: [...given.records].reverse() })), JSON.stringify(view));
      const internal = new Set(viewOf(given).tools.filter(isInternal).map((tool) => tool.name));
      mustEqual([...view.tools.map((tool) => tool.name), ...view.summary.unknownNames].filter((one) => internal.has(one)), []);
    }), RUNS);
  });

  it('a switch that is not locked moves, and one that is does not', () => {
    fc.assert(fc.property(situation(), (given) => {
      for (const row of edited(given).tools) {
        const moved = switched(given, row.name, !row.switch.on);
        if (row.switch.locked) {
          if (row.switch.lockReason === 'LOCKED' || !row.switch.on) mustEqual([row.name, moved], [row.name, null]);
        } else {
          const after = moved && edited(moved).tools.find((tool) => tool.name === row.name);
          mustEqual([row.name, after?.switch.on], [row.name, !row.switch.on]);
        }
      }
    }), RUNS);
  });
});

describe('bulk actions', () => {
  it('are the same done twice, and touch no name of the other kind', () => {
    fc.assert(fc.property(situation(), fc.constantFrom(...BULK_ACTIONS), (given, action) => {
      const { byName } = viewOf(given);
      const isCore = (one: string): boolean => byName.get(one)?.effective.isCore === true;
      const before = given.document.tools;
      const once = applyBulkAction(action, before, isCore);
      mustEqual(applyBulkAction(action, once, isCore), once);
      if (action !== 'restore-core-defaults') return;
      const others = (names: readonly string[]): string[] => names.filter((one) => !isCore(one));
      mustEqual([once.enabled, once.disabled], [others(before.enabled), others(before.disabled)]);
    }), RUNS);
  });
});

describe('the diagnostic of a session', () => {
  it('without an agent is that of an agent that overrides nothing', () => {
    fc.assert(fc.property(situation(), (given) => {
      const plain = { ...given, document: { ...given.document, toolOverrides: {} } };
      const decision = decide(subjectIn(plain), { format: null, nativeDeferral: false, offering: { mode: 'all', state: null, discovered: [], limit: null }, include: new Set(INCLUDES) }, 'en');
      const { tools } = diagnoseTools(viewOf(plain), { session: given.context.session ?? null });
      for (const [one, diagnostic] of Object.entries(decision.runtimeDiagnostic ?? {})) mustEqual([one, Object.entries(tools).find(([there]) => there === one)?.[1]], [one, diagnostic]);
    }), RUNS);
  });
});
