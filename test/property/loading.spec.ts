import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { decide, offeredTools } from '../../src/core/decide.js';
import { expose } from '../../src/core/expose.js';
import { findTools } from '../../src/core/find-tools.js';
import { isObject } from '../../src/core/json.js';
import { compress, loadTools, loadableOf, mark } from '../../src/core/load-tools.js';
import { pendingOf, readToolLoading, toolLoadingOf } from '../../src/core/loading-state.js';
import { readConversationRequest, snapshotOf } from '../../src/core/snapshot.js';
import { mustEqual } from '../support/must-equal.js';
import { AGENTS, NAMES, heldState, offeringIn, situation, snapshot, subjectIn, viewOf } from './arbitraries.js';

const RUNS = { numRuns: 2_000 };
const PLAIN = { format: null, nativeDeferral: false, include: new Set<never>() };

describe('INVARIANT (damage hides nothing)', () => {
  it('a state of the runtime’s own defers only what it well defers, whatever stands in it', () => {
    fc.assert(fc.property(situation(), heldState, (given, toolLoading) => {
      const asking = { ...given, snapshot: null, limit: null, asked: { exposure: null, toolLoading, discovered: [], format: null } };
      const { toolNames, initialTools, searchableTools, toolLoading: answered } = decide(subjectIn(asking), { ...PLAIN, offering: offeringIn(asking) }, 'en');
      if (toolLoading === null) return;
      const held = isObject(toolLoading) && toolLoading['enabled'] === true ? toolLoading : {};
      const deferred = Array.isArray(held['deferred_set']) ? held['deferred_set'] : [];
      const loaded = Array.isArray(held['loaded']) ? held['loaded'] : [];
      const { deferrable } = viewOf(asking);
      const hidden = toolNames.filter((name) => deferred.includes(name) && !loaded.includes(name) && deferrable.has(name));
      mustEqual(searchableTools, hidden);
      mustEqual(initialTools, toolNames.filter((name) => !hidden.includes(name)));
      mustEqual(answered?.enabled, isObject(toolLoading) && toolLoading['enabled'] === true);
      mustEqual(answered?.pending, answered?.deferredSet.filter((name) => !answered.loaded.includes(name)));
    }), RUNS);
  });

  it('what is read out of a state reads the same again', () => {
    fc.assert(fc.property(situation(), heldState, (given, held) => {
      const view = viewOf(given);
      const state = readToolLoading(held, [], view);
      const again = readToolLoading({ enabled: state.enabled, deferred_set: state.deferredSet, initial_exposed: state.initialExposed, loaded: state.loaded }, [], view);
      mustEqual(again, state);
    }), RUNS);
  });
});

describe('INVARIANT (no leak)', () => {
  it('of names that were not deferred here nothing is told but what the agent has', () => {
    fc.assert(fc.property(situation(), snapshot, fc.uniqueArray(fc.constantFrom(...NAMES, 'ghost', 'load_tools')), (given, state, names) => {
      const offered = new Map(offeredTools(subjectIn(given)).map((tool) => [tool.name, tool]));
      const { results, state: after } = loadTools(names, state, { offered, overflowed: new Set() });
      mustEqual(results.map(({ name }) => name), names);
      for (const { name, status } of results) {
        if (!state.deferredSet.includes(name) && !offered.has(name)) mustEqual({ name, status }, { name, status: 'unknown' });
        mustEqual({ name, isTheirs: offered.has(name) }, { name, isTheirs: ['loaded', 'already_loaded', 'not_deferred'].includes(status) });
      }
      mustEqual(after.loaded.filter((name) => !state.loaded.includes(name)).every((name) => offered.has(name)), true);
    }), RUNS);
  });
});

describe('INVARIANT (search adds nothing)', () => {
  it('whatever a ranking says, only what decide offers is found, in the order of the ranking, cut last', () => {
    const ranking = fc.uniqueArray(fc.constantFrom(...NAMES, 'ghost', 'load_tools'));
    fc.assert(fc.property(situation(), ranking, fc.integer({ min: 1, max: 4 }), (given, names, limit) => {
      const subject = subjectIn(given);
      const offering = offeringIn(given);
      const { toolNames, initialTools } = decide(subject, { ...PLAIN, offering }, 'en');
      const ranked = names.map((name, i) => ({ name, score: names.length - i }));
      const { results, total, categories } = findTools(ranked, expose(offeredTools(subject), subject, offering), subject, limit);
      const matching = names.filter((name) => toolNames.includes(name));
      mustEqual({ found: results.map(({ name }) => name), total }, { found: matching.slice(0, limit), total: matching.length });
      mustEqual(results.every(({ name, exposed }) => exposed === initialTools.includes(name)), true);
      mustEqual(categories === undefined, matching.length > 0);
      mustEqual((categories ?? []).every(({ count }) => count > 0 && count <= toolNames.length), true);
    }), RUNS);
  });
});

describe('a conversation', () => {
  it('offers at once what was loaded, if it is the agent’s at all, and leaves no dead end', () => {
    fc.assert(fc.property(situation(), snapshot, (given, before) => {
      const subject = subjectIn(given);
      const offered = new Map(offeredTools(subject).map((tool) => [tool.name, tool]));
      const wanted = loadableOf(before, offered);
      const { state } = loadTools(wanted, before, { offered, overflowed: new Set() });
      const asking = { ...given, snapshot: state, limit: null, asked: { exposure: 'deferred' as const, toolLoading: null, discovered: [], format: null } };
      const { initialTools, searchableTools, loaderTools } = decide(subject, { ...PLAIN, offering: offeringIn(asking) }, 'en');
      mustEqual(wanted.every((name) => initialTools.includes(name)), true);
      mustEqual({ searchableTools, loaderTools }, { searchableTools: [], loaderTools: [] });
      const { state: compressed, previouslyLoaded } = compress(state);
      mustEqual(previouslyLoaded, [...state.loaded, ...state.discovered]);
      mustEqual(loadableOf(compressed, offered), before.deferredSet.filter((name) => offered.has(name)));
    }), RUNS);
  });

  it('marks each found name once: as loaded where it was deferred, else as discovered', () => {
    fc.assert(fc.property(snapshot, fc.array(fc.constantFrom(...NAMES)), (state, found) => {
      const marked = mark(mark(state, [...new Set(found)]), [...new Set(found)]);
      mustEqual(new Set(marked.loaded).size, marked.loaded.length);
      mustEqual(new Set(marked.discovered).size, marked.discovered.length);
      mustEqual(marked.loaded.every((name) => state.deferredSet.includes(name)), true);
      mustEqual(found.every((name) => [...marked.loaded, ...marked.discovered].includes(name)), true);
      mustEqual(pendingOf(marked), state.deferredSet.filter((name) => !marked.loaded.includes(name)));
    }), RUNS);
  });

  it('begins without an error whatever the preferences are, and pins only what can be deferred', () => {
    const preferences = fc.oneof(fc.jsonValue(), fc.record({ toolLoadingEnabled: fc.oneof(fc.constant(true), fc.jsonValue()), toolLoadingDeferred: fc.oneof(fc.array(fc.constantFrom(...NAMES, 'ghost')), fc.jsonValue()) }, { requiredKeys: [] }));
    const built = fc.option(fc.array(fc.constantFrom(...NAMES, ' ', '')));
    fc.assert(fc.property(situation(), preferences, built, fc.option(fc.boolean()), fc.constantFrom(...AGENTS), (given, chosen, builtToolNames, multiAgentMode, agentId) => {
      const view = viewOf(given);
      const request = readConversationRequest({ agentId, preferences: chosen, builtToolNames, multiAgentMode });
      const toolNames = offeredTools(subjectIn(given)).map(({ name }) => name);
      const { state, catalogText } = snapshotOf(request, toolNames, view);
      mustEqual(state.deferredSet.every((name) => view.deferrable.has(name) && !given.settings.alwaysInitial.includes(name)), true);
      mustEqual(state.initialExposed.filter((name) => state.deferredSet.includes(name) || name.trim() === ''), []);
      mustEqual(state.initialExposed.includes('load_tools'), state.deferredSet.length > 0);
      mustEqual(toolLoadingOf(state, view).staleReferences.every((name) => !toolNames.includes(name)), true);
      mustEqual(catalogText === '' ? 0 : catalogText.split('\n').length, view.loadingGroups.filter(({ tools }) => tools.some((name) => state.deferredSet.includes(name) && toolNames.includes(name))).length);
    }), RUNS);
  });
});
