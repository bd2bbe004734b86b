/** What a run of the pipeline looks at, told as it looks: the stages are handed the same values, which tell that they are read. */
import type { ToolOverride } from './agent-document.js';
import type { CatalogTool, Governance } from './catalog.js';
import { isObject, own } from './json.js';
import type { JsonObject } from './json.js';
import type { ConfigurationSubject, Subject } from './pipeline.js';
import type { PolicyAgent } from './policy-view.js';
import type { DecideContext, Session } from './request.js';
import type { SessionFacts } from './route.js';
import { pointer } from './text.js';

/** Whose word a fact is. `computed` = worked out from several, before or during the run. */
export const ORIGINS = ['agent', 'parent', 'governance', 'declaration', 'settings', 'context', 'request', 'conversation', 'computed'] as const;
export type Origin = (typeof ORIGINS)[number];

/** One thing that a stage looked at. */
export interface Fact {
  readonly from: Origin;
  /** A JSON Pointer into what `from` names. */
  readonly path: string;
  /** What was looked up there; then `value` tells whether it was found, or what was found. Null where the value itself was read. */
  readonly of: string | null;
  readonly value: unknown;
}

export type Tell = (fact: Fact) => void;

type AgentOrigin = Extract<Origin, 'agent' | 'parent'>;

/** A set that tells what it is asked for. */
class ToldSet extends Set<string> {
  constructor(names: Iterable<string>, private readonly tell: (of: string | null, value: unknown) => void) {
    super(names);
  }

  override has(name: string): boolean {
    const found = super.has(name);
    this.tell(name, found);
    return found;
  }

  override get size(): number {
    const size = super.size;
    this.tell(null, size);
    return size;
  }
}

/** The same object, whose members tell that they are read; those that are objects themselves tell of their own members. */
function told<T extends object>(source: T, tell: (path: string, value: unknown) => void, at = ''): T {
  return new Proxy({} as T, {
    get: (_, key) => {
      const value = own(source as JsonObject, String(key)) ?? null;
      const path = pointer(at, String(key));
      if (isObject(value)) return told(value, tell, path);
      tell(path, value);
      return value;
    },
  });
}

/** Effective values, each with whose it is. */
export function toldTool(tool: CatalogTool, tell: Tell): CatalogTool {
  const { governance } = tool.record;
  const effective = (path: string, value: unknown): void => tell({ from: isOverridden(governance, path) ? 'governance' : 'declaration', path, of: null, value });
  return {
    ...tool,
    effective: told(tool.effective, effective),
    get record() {
      tell({ from: 'computed', path: '/available', of: null, value: tool.record.available });
      return tool.record;
    },
    get locked() {
      tell({ from: 'computed', path: '/locked', of: null, value: tool.locked });
      return tool.locked;
    },
  };
}

/** Whether ops override what the pointer points at: members of `extra` one by one, others as a whole. */
function isOverridden(governance: Governance, path: string): boolean {
  const [, member = '', inner] = path.split('/');
  const override = own(governance as JsonObject, member) ?? null;
  return inner === undefined || !isObject(override) ? override !== null : Object.hasOwn(override, inner);
}

function toldAgent(agent: PolicyAgent, from: AgentOrigin, tell: Tell): PolicyAgent {
  const tellOf = (path: string) => (of: string | null, value: unknown): void => tell({ from, path, of, value });
  const flag = <T>(path: string, value: T): T => {
    tellOf(path)(null, value);
    return value;
  };
  const ceiling = (path: string, names: ReadonlySet<string> | null): ReadonlySet<string> | null => (names === null ? flag(path, null) : new ToldSet(names, tellOf(path)));
  return {
    ...agent,
    get inheritsCore() { return flag('/tools/inheritCoreTools', agent.inheritsCore); },
    enabled: new ToldSet(agent.enabled, tellOf('/tools/enabled')),
    disabled: new ToldSet(agent.disabled, tellOf('/tools/disabled')),
    get availableTools() { return ceiling('/availableTools', agent.availableTools); },
    overrides: toldOverrides(agent.overrides, tellOf),
    get subagentsOn() { return flag('/subagentConfig/enabled', agent.subagentsOn); },
    get subagentTools() { return ceiling('/subagentConfig/allowedToolNames', agent.subagentTools); },
    skillEntries: new ToldSet(agent.skillEntries, tellOf('/skills')),
  };
}

/** Of an override only its members are told, and that there is none. */
function toldOverrides(overrides: PolicyAgent['overrides'], tellOf: (path: string) => (of: string | null, value: unknown) => void): PolicyAgent['overrides'] {
  const get = (name: string): ToolOverride | undefined => {
    const override = overrides.get(name);
    if (override === undefined) tellOf('/toolOverrides')(name, null);
    return override && told(override, (path, value) => tellOf(path)(null, value), pointer('/toolOverrides', name));
  };
  return Object.assign(new Map<string, ToolOverride>(), { get });
}

/** The parent in its own right: what its stages 0 to 4 look at. */
const toldParent = (parent: ConfigurationSubject, tell: Tell): ConfigurationSubject => ({
  ...parent,
  agent: toldAgent(parent.agent, 'parent', tell),
  targets: new ToldSet(parent.targets, (of, value) => tell({ from: 'computed', path: '/parent/effectiveTargets', of, value })),
});

export function toldSubject(subject: Subject, tell: Tell, from: AgentOrigin = 'agent'): Subject {
  const { view, agent, parent, parentAsMain, context, session, selected } = subject;
  const computed = (path: string, of: string | null, value: unknown): void => tell({ from: 'computed', path, of, value });
  const targets = from === 'agent' ? '/effectiveTargets' : '/parent/effectiveTargets';
  return {
    ...subject,
    agent: toldAgent(agent, from, tell),
    get parent() {
      tell({ from: 'context', path: '/subagent/parentAgentId', of: null, value: parent && parent.agentId });
      return parent && toldAgent(parent, 'parent', tell);
    },
    get depth() {
      tell({ from: 'context', path: '/subagent/depth', of: null, value: subject.depth });
      return subject.depth;
    },
    targets: new ToldSet(subject.targets, (of, value) => computed(targets, of, value)),
    get isPresetOfParent() {
      computed('/parent/effectiveTargets', agent.agentId, subject.isPresetOfParent);
      return subject.isPresetOfParent;
    },
    get parentAsMain() {
      tell({ from: 'settings', path: '/childWithinParent', of: null, value: view.settings.childWithinParent });
      return parentAsMain && toldParent(parentAsMain, tell);
    },
    view: { ...view, settings: told(view.settings, (path, value) => tell({ from: 'settings', path, of: null, value })) },
    context: toldContext(context, tell),
    get session() { return toldSession(session, context.session, tell); },
    get shows() {
      tell({ from: 'request', path: '/view', of: null, value: subject.shows });
      return subject.shows;
    },
    get selected() {
      if (selected === null) tell({ from: 'request', path: '/select', of: null, value: null });
      return selected && new ToldSet(selected, (of, value) => tell({ from: 'request', path: '/select', of, value }));
    },
    evaluate: (expression, facts) => {
      const holds = subject.evaluate(expression, facts);
      computed('/condition', expression, holds);
      return holds;
    },
  };
}

const toldContext = (context: DecideContext, tell: Tell): DecideContext => ({
  ...context,
  get capabilities() {
    tell({ from: 'context', path: '/model/capabilities', of: null, value: context.capabilities });
    return context.capabilities;
  },
  get scene() {
    tell({ from: 'context', path: '/scene', of: null, value: context.scene });
    return context.scene;
  },
});

function toldSession(facts: SessionFacts | null, session: Session | null, tell: Tell): SessionFacts | null {
  const given = (member: keyof Session): void => tell({ from: 'context', path: pointer('/session', member), of: null, value: session && session[member] });
  if (facts === null) {
    tell({ from: 'context', path: '/session', of: null, value: null });
    return null;
  }
  return {
    get shell() { given('allowShell'); return facts.shell; },
    get writes() { given('readonly'); return facts.writes; },
    get network() { given('allowNetwork'); return facts.network; },
    get filesFault() { given('cwd'); given('workspaceRoots'); return facts.filesFault; },
  };
}
