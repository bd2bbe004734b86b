import fc from 'fast-check';
import type { AgentDocument } from '../../src/core/agent-document.js';
import { normaliseDocument } from '../../src/core/agent-document.js';
import type { ToolRecord } from '../../src/core/catalog.js';
import { CAPABILITIES, FILESYSTEMS, ROLES, ROUTING_STRATEGIES, STATUSES, VISIBILITIES } from '../../src/core/catalog.js';
import { readDeclaration } from '../../src/core/declaration-reader.js';
import type { Offering, OfferingAsked } from '../../src/core/expose.js';
import { offeringOf } from '../../src/core/expose.js';
import type { JsonObject } from '../../src/core/json.js';
import { unique } from '../../src/core/json.js';
import type { LoadingState } from '../../src/core/loading-state.js';
import type { Narrowing, Subject } from '../../src/core/pipeline.js';
import { subjectOf } from '../../src/core/pipeline.js';
import type { PolicyView } from '../../src/core/policy-view.js';
import { applyDelta } from '../../src/core/policy-view.js';
import type { ContextInput } from '../../src/core/request.js';
import { VIEWS, readContext } from '../../src/core/request.js';
import type { Settings } from '../../src/core/settings.js';
import { DEFAULT_SETTINGS, EXPOSURES } from '../../src/core/settings.js';
import { evaluateCondition } from '../../src/engines/cel-condition.engine.js';

/** Few names, some of them awkward, so that lists and catalogs meet often. */
export const NAMES = ['a', 'b', 'B', 'c', 'a_b', '10', '9', 'x/y', '__proto__', 'constructor', 'toString'];
export const AGENTS = ['main', 'child', 'parent', 'other'];
const SCENES = ['chat', 'crew'];
const CONDITIONS = ['true', 'false', 'attributes.on == true', 'attributes.off || attributes.on', 'depth == 0', "scene == 'chat'", 'attributes.n', "'vision' in model.capabilities"];

const toolName = fc.constantFrom(...NAMES);
const agentName = fc.constantFrom(...AGENTS);
const names = fc.uniqueArray(toolName, { maxLength: 8 });
const conditional = (conditions: boolean): fc.Arbitrary<string | null> => (conditions ? fc.option(fc.constantFrom(...CONDITIONS), { freq: 3 }) : fc.constant(null));

const entry = (name: string, conditions: boolean): fc.Arbitrary<JsonObject> =>
  fc.record({
    description: fc.constantFrom('does something', '做某事'),
    visibility: fc.constantFrom(...VISIBILITIES, 'tool' as const, 'tool' as const),
    capability: fc.constantFrom('text' as const, ...CAPABILITIES),
    role: fc.constantFrom('ordinary' as const, 'ordinary' as const, ...ROLES),
    isCore: fc.boolean(),
    canDisable: fc.boolean(),
    status: fc.constantFrom('enabled' as const, 'enabled' as const, ...STATUSES),
    sort: fc.integer({ min: -1, max: 1 }),
    promptHint: fc.constantFrom(null, ' ', 'mind this'),
    scenes: fc.constantFrom(null, null, [], ['chat'], SCENES),
    active: conditional(conditions),
    loadingCategory: fc.constantFrom(null, 'one', 'two'),
    requiresSkillEntry: fc.constantFrom(null, null, 'compute'),
    intent: fc.option(fc.record({ when: conditional(conditions) }), { freq: 2 }),
    runtime: fc.record({ filesystem: fc.constantFrom('none' as const, ...FILESYSTEMS), shell: fc.boolean(), network: fc.boolean(), mainProcess: fc.boolean() }),
    extra: fc.record({ workerRoutingStrategy: fc.constantFrom('auto' as const, ...ROUTING_STRATEGIES), allowInSubagent: fc.boolean() }),
    target: agentName,
  }).map(({ target, ...declared }) => ({ name, ...declared, ...(declared.role === 'delegate' ? { targetAgentId: target } : {}) }));

const governance = fc.record({ status: fc.constantFrom(...STATUSES), isCore: fc.boolean(), canDisable: fc.boolean(), sort: fc.integer({ min: -1, max: 1 }) }, { requiredKeys: [] });

const record = (name: string, conditions: boolean): fc.Arbitrary<ToolRecord> =>
  fc.record({ declared: entry(name, conditions), available: fc.constantFrom(true, true, true, false), governance: fc.oneof(fc.constant({}), governance) }).map((parts) => ({
    name,
    source: 'runtime',
    available: parts.available,
    declaration: readDeclaration(parts.declared, name, { format: 'toolcrib', defaultToolset: 'default' }),
    governance: parts.governance,
    revision: 1,
  }));

const catalog = (conditions: boolean): fc.Arbitrary<ToolRecord[]> => fc.subarray(NAMES).chain((chosen) => fc.tuple(...chosen.map((name) => record(name, conditions))));

export const document: fc.Arbitrary<AgentDocument> = fc.record({
  tools: fc.record({ inheritCoreTools: fc.boolean(), enabled: names, disabled: names }),
  availableTools: fc.option(names, { freq: 1 }),
  toolOverrides: fc.dictionary(toolName.filter((name) => name !== '__proto__'), fc.record({ extra: fc.record({ allowInSubagent: fc.boolean(), workerRoutingStrategy: fc.constantFrom(...ROUTING_STRATEGIES) }, { requiredKeys: [] }) }), { maxKeys: 3 }),
  subagentConfig: fc.record({ enabled: fc.boolean(), allowedToolNames: fc.option(names, { freq: 1 }), allowedPresetAgentIds: fc.uniqueArray(fc.constantFrom(...AGENTS, 'ghost'), { maxLength: 5 }) }),
  skills: fc.constantFrom([], [{ name: 'report', entry: 'compute' }]),
}).map((input) => normaliseDocument('main', input));

export const settings: fc.Arbitrary<Settings> = fc.record({
  maxSubagentDepth: fc.integer({ min: 0, max: 3 }),
  childWithinParent: fc.boolean(),
  defaultExposure: fc.constantFrom(...EXPOSURES),
  alwaysInitial: fc.uniqueArray(fc.constantFrom(...NAMES, 'ghost'), { maxLength: 4 }),
  mainAgentInitialSubagents: fc.subarray(AGENTS),
}).map((some) => ({ ...DEFAULT_SETTINGS, ...some }));

export const context: fc.Arbitrary<ContextInput> = fc.record({
  scene: fc.constantFrom(null, ...SCENES),
  model: fc.option(fc.record({ capabilities: fc.option(fc.subarray(['text', 'vision', 'multimodal'])) })),
  session: fc.option(fc.record({
    cwd: fc.constantFrom(null, '', '/w', '/w/p', '/work', 'C:\\w', '/w/../x'),
    workspaceRoots: fc.constantFrom(null, [], ['/w'], ['c:/W', '/']),
    allowShell: fc.option(fc.boolean()),
    readonly: fc.option(fc.boolean()),
    allowNetwork: fc.option(fc.boolean()),
  })),
  subagent: fc.option(fc.record({ parentAgentId: fc.constantFrom('parent', 'other'), depth: fc.integer({ min: 1, max: 4 }) }), { freq: 1 }),
  attributes: fc.constantFrom({}, { on: true }, { on: false, n: 1 }, { off: true }),
});

export const narrowing: fc.Arbitrary<Narrowing> = fc.record({ view: fc.constantFrom(...VIEWS, 'all' as const), select: fc.option(fc.uniqueArray(fc.constantFrom(...NAMES, 'ghost')), { freq: 2 }) });

const anyNames = fc.array(fc.constantFrom(...NAMES, 'ghost', '', 'load_tools'), { maxLength: 8 });
const heldList = fc.oneof(anyNames, fc.array(fc.oneof(fc.constantFrom(...NAMES), fc.jsonValue())), fc.jsonValue());

/** A state as a runtime holds it, whole or damaged. */
export const heldState: fc.Arbitrary<unknown> = fc.oneof(
  fc.constant(null),
  fc.record({ enabled: fc.oneof(fc.constant(true), fc.constant(true), fc.jsonValue()), deferred_set: heldList, loaded: heldList, initial_exposed: heldList, pending: heldList, other: fc.jsonValue() }, { requiredKeys: [] }),
  fc.jsonValue(),
);

export const asked: fc.Arbitrary<OfferingAsked> = fc.record({ exposure: fc.constantFrom(null, ...EXPOSURES), toolLoading: heldState, discovered: anyNames, format: fc.constant(null) });

/** A snapshot as it may have become: of a catalog that has changed since. */
export const snapshot: fc.Arbitrary<LoadingState> = fc.record({ deferredSet: names, discovered: names, enabled: fc.constant(true) }).chain((state) =>
  fc.subarray(state.deferredSet).map((loaded) => ({ ...state, loaded, initialExposed: ['load_tools'], discovered: state.discovered.filter((name) => !state.deferredSet.includes(name)) })));

/** Everything that enters one decision. */
export interface Situation {
  readonly records: readonly ToolRecord[];
  readonly document: AgentDocument;
  readonly parent: AgentDocument;
  readonly settings: Settings;
  readonly context: ContextInput;
  readonly narrowing: Narrowing;
  readonly asked: OfferingAsked;
  readonly snapshot: LoadingState | null;
  /** How many definitions the provider takes. */
  readonly limit: number | null;
}

export const situation = ({ conditions = true } = {}): fc.Arbitrary<Situation> =>
  fc.record({ records: catalog(conditions), document, parent: document, settings, context, narrowing, asked, snapshot: fc.option(snapshot, { freq: 1 }), limit: fc.option(fc.integer({ min: 2, max: 6 }), { freq: 1 }) });

export function viewOf({ records, document: own, parent, settings: chosen }: Situation): PolicyView {
  const agent = (agentId: string, saved: AgentDocument) => ({ agentId, document: saved, origin: 'native' as const, legacy: null, revision: 1, updatedAt: '' });
  const agents = [agent('main', own), agent('parent', parent), agent('other', own), agent('child', own)];
  return applyDelta(null, { incarnation: 'i', revision: 1, settings: chosen, settingsRevision: 0, complete: true, tools: records, categories: ['one', 'two'].map((key, sort) => ({ source: 'runtime', key, label: key, whenToUse: `for ${key}`, sort })), agents });
}

export function subjectIn(given: Situation): Subject {
  const view = viewOf(given);
  const read = readContext(given.context);
  const agent = view.agents.get('main');
  const parent = read.subagent === null ? null : view.agents.get(read.subagent.parentAgentId);
  if (agent === undefined || parent === undefined) throw new Error('an agent is missing');
  const { view: shows, select } = given.narrowing;
  return subjectOf({ view, agent, parent, context: read, narrowing: { view: shows, select: select && unique(select) }, evaluate: evaluateCondition });
}

export const offeringIn = (given: Situation): Offering => ({ ...offeringOf(given.asked, given.snapshot, viewOf(given)), limit: given.limit });
