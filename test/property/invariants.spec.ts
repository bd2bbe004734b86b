import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AgentDocument } from '../../src/core/agent-document.js';
import { isInternal } from '../../src/core/catalog.js';
import { check } from '../../src/core/check.js';
import { decide } from '../../src/core/decide.js';
import type { Decision } from '../../src/core/decision.js';
import { LOADERS } from '../../src/core/expose.js';
import { own } from '../../src/core/json.js';
import { INCLUDES } from '../../src/core/request.js';
import { mustEqual } from '../support/must-equal.js';
import { NAMES, offeringIn, situation, subjectIn, viewOf } from './arbitraries.js';
import type { Situation } from './arbitraries.js';

const RUNS = { numRuns: 2_000 };
const EVERYTHING = new Set(INCLUDES);
const PLAIN = { format: null, nativeDeferral: false };
const FIT = () => [];

const decided = (given: Situation): Decision => decide(subjectIn(given), { ...PLAIN, offering: offeringIn(given), include: EVERYTHING }, 'en');
const offered = (given: Situation): readonly string[] => decided(given).toolNames;
const changed = (given: Situation, part: Partial<AgentDocument>): Situation => ({ ...given, document: { ...given.document, ...part } });

/** Nothing is offered after the change that was not offered before. */
const narrows = (before: Situation, after: Situation): void => {
  const had = new Set(offered(before));
  mustEqual(offered(after).filter((name) => !had.has(name)), []);
};

const name = fc.constantFrom(...NAMES);

describe('INVARIANT (partition)', () => {
  it('initial and searchable tools are toolNames, which are allowed, which are in the catalog', () => {
    fc.assert(fc.property(situation(), (given) => {
      const { initialTools, searchableTools, toolNames, allowedTools, loaderTools } = decided(given);
      mustEqual([...initialTools, ...searchableTools].sort(), [...toolNames].sort());
      mustEqual(new Set(toolNames).size, toolNames.length);
      mustEqual(toolNames.every((tool) => allowedTools.includes(tool)), true);
      mustEqual(allowedTools.every((tool) => given.records.some((record) => record.name === tool)), true);
      mustEqual(loaderTools.length > 0, searchableTools.length > 0);
    }), RUNS);
  });
});

describe('INVARIANT (narrowing)', () => {
  it('a name added to disabled never adds a tool', () => {
    fc.assert(fc.property(situation(), name, (given, closed) => {
      const { tools } = given.document;
      narrows(given, changed(given, { tools: { ...tools, disabled: [...tools.disabled, closed] } }));
    }), RUNS);
  });

  it('a smaller ceiling never adds a tool', () => {
    fc.assert(fc.property(situation(), fc.subarray(NAMES), (given, kept) => {
      const before = given.document.availableTools ?? NAMES;
      narrows(given, changed(given, { availableTools: before.filter((tool) => kept.includes(tool)) }));
    }), RUNS);
  });

  it('a smaller ceiling of the parent never adds a tool', () => {
    fc.assert(fc.property(situation(), fc.subarray(NAMES), (given, kept) => {
      const { subagentConfig } = given.parent;
      const before = subagentConfig.allowedToolNames ?? NAMES;
      narrows(given, { ...given, parent: { ...given.parent, subagentConfig: { ...subagentConfig, allowedToolNames: before.filter((tool) => kept.includes(tool)) } } });
    }), RUNS);
  });

  it('a global stop never adds a tool', () => {
    fc.assert(fc.property(situation(), name, (given, stopped) => {
      const records = given.records.map((record) => (record.name === stopped ? { ...record, governance: { ...record.governance, status: 'disabled' as const } } : record));
      narrows(given, { ...given, records });
      expect(offered({ ...given, records })).not.toContain(stopped);
    }), RUNS);
  });

  it('a model that can do less never adds a tool, where no condition looks at it', () => {
    fc.assert(fc.property(situation({ conditions: false }), fc.subarray(['text', 'vision', 'multimodal']), (given, kept) => {
      const capabilities = given.context.model?.capabilities ?? [];
      narrows(given, { ...given, context: { ...given.context, model: { capabilities: capabilities.filter((capability) => kept.includes(capability)) } } });
    }), RUNS);
  });
});

describe('INVARIANT (whitelists grant nothing)', () => {
  it('the settings that say what is offered at once never change toolNames', () => {
    fc.assert(fc.property(situation(), fc.subarray(NAMES), (given, alwaysInitial) => {
      const after = { ...given, settings: { ...given.settings, alwaysInitial, mainAgentInitialSubagents: ['child', 'other'] } };
      mustEqual(offered(after), offered(given));
    }), RUNS);
  });
});

describe('INVARIANT (absent is not empty)', () => {
  it('no ceiling leaves everything, an empty one leaves nothing', () => {
    fc.assert(fc.property(situation(), (given) => {
      mustEqual(offered(changed(given, { availableTools: [] })), []);
      mustEqual(offered(changed(given, { availableTools: null })), offered(changed(given, { availableTools: NAMES })));
    }), RUNS);
  });

  it('no selection leaves everything, an empty one leaves nothing', () => {
    fc.assert(fc.property(situation(), (given) => {
      const select = (chosen: readonly string[] | null): Situation => ({ ...given, narrowing: { ...given.narrowing, select: chosen } });
      mustEqual(offered(select([])), []);
      mustEqual(offered(select(null)), offered(select(NAMES)));
    }), RUNS);
  });
});

describe('INVARIANT (one reason)', () => {
  it('every registered, non-internal tool is offered or has exactly one primary reason', () => {
    fc.assert(fc.property(situation(), (given) => {
      const { toolNames, disabledReasons = {}, emptyReason } = decided(given);
      const registered = viewOf(given).tools.filter((tool) => !isInternal(tool)).map((tool) => tool.name);
      const unknown = (given.narrowing.select ?? []).filter((selected) => !registered.includes(selected));
      const expected = [...registered.filter((tool) => !toolNames.includes(tool)), ...unknown];
      mustEqual(Object.keys(disabledReasons).sort(), expected.sort());
      mustEqual(emptyReason === null, toolNames.length > 0);
    }), RUNS);
  });
});

describe('INVARIANT (decide and check agree)', () => {
  it('check says of every tool and loader, known or not, what decide says, in a conversation or without', () => {
    fc.assert(fc.property(situation(), (given) => {
      const open = { ...given, narrowing: { view: 'all' as const, select: null } };
      const { initialTools, searchableTools, loaderTools, disabledReasons = {}, toolRuntimeRoutes = {} } = decided(open);
      const refusal = (name: string): string => (searchableTools.includes(name) ? 'TOOL_NOT_LOADED' : (own(disabledReasons, name)?.code ?? 'UNKNOWN_TOOL'));
      for (const toolName of [...NAMES, ...LOADERS, 'ghost', 'tool_request']) {
        const answer = check(subjectIn(open), { toolName, format: null, offering: offeringIn(open) }, FIT, 'en');
        mustEqual({ toolName, allowed: answer.allowed }, { toolName, allowed: [...initialTools, ...loaderTools].includes(toolName) });
        mustEqual({ toolName, code: answer.code }, { toolName, code: answer.allowed ? 'OK' : refusal(toolName) });
        mustEqual(answer.route, own(toolRuntimeRoutes, toolName) ?? null);
      }
    }), RUNS);
  });
});

describe('diagnostics', () => {
  it('and the backend that the context names change nothing else of a decision', () => {
    fc.assert(fc.property(situation(), fc.constantFrom('local', 'mock', ''), (given, operations) => {
      const rest = ({ runtimeDiagnostic: _, ...others }: Decision): string => JSON.stringify(others);
      const told = decided({ ...given, context: { ...given.context, operations } });
      const plain = decide(subjectIn(given), { ...PLAIN, offering: offeringIn(given), include: new Set(INCLUDES.filter((part) => part !== 'diagnostics')) }, 'en');
      mustEqual(rest(told), rest(plain));
      mustEqual(Object.values(told.runtimeDiagnostic ?? {}).every((one) => one.operations === operations), true);
    }), { numRuns: 500 });
  });
});

describe('INVARIANT (same input, same bytes)', () => {
  it('the order in which tools were synced has no meaning', () => {
    const shuffled = situation().chain((given) => fc.tuple(fc.constant(given), fc.shuffledSubarray([...given.records], { minLength: given.records.length })));
    fc.assert(fc.property(shuffled, ([given, records]) => {
      mustEqual(JSON.stringify(decided({ ...given, records })), JSON.stringify(decided(given)));
    }), RUNS);
  });
});
