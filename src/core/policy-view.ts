/** Everything that decides for one tenant at one revision, compiled once and then only read. */
import type { AgentRecord, ToolOverride } from './agent-document.js';
import type { CatalogTool, LoadingCategory, ToolRecord } from './catalog.js';
import { catalogTool } from './catalog.js';
import { byText, equalJson } from './json.js';
import type { LoadingGroup } from './loading-registry.js';
import { loadingRegistry } from './loading-registry.js';
import type { Settings } from './settings.js';

/** An agent ready to be decided for: its lists as sets. */
export interface PolicyAgent {
  readonly agentId: string;
  readonly record: AgentRecord;
  readonly inheritsCore: boolean;
  readonly enabled: ReadonlySet<string>;
  readonly disabled: ReadonlySet<string>;
  /** Null = no ceiling. */
  readonly availableTools: ReadonlySet<string> | null;
  readonly overrides: ReadonlyMap<string, ToolOverride>;
  readonly subagentsOn: boolean;
  /** Null = no ceiling. */
  readonly subagentTools: ReadonlySet<string> | null;
  readonly skillEntries: ReadonlySet<string>;
}

/** Where a tenant stands. */
export interface PolicyPoint {
  /** Tells a tenant from a deleted one of the same name: revisions of the two are not comparable. */
  readonly incarnation: string;
  readonly revision: number;
}

export interface PolicyView extends PolicyPoint {
  readonly settings: Settings;
  readonly settingsRevision: number;
  /** By (effective `sort`, `name`), whatever order they were synced in. */
  readonly tools: readonly CatalogTool[];
  readonly byName: ReadonlyMap<string, CatalogTool>;
  /** As declared, one row for each source and key. */
  readonly categories: readonly LoadingCategory[];
  /** The loading registry, in its order, and the names in it. */
  readonly loadingGroups: readonly LoadingGroup[];
  readonly deferrable: ReadonlySet<string>;
  readonly agents: ReadonlyMap<string, PolicyAgent>;
}

/** What changed since a view, read in one snapshot. `complete` = these are all the tools and agents there are. */
export interface PolicyDelta {
  readonly incarnation: string;
  readonly revision: number;
  readonly settings: Settings;
  readonly settingsRevision: number;
  readonly complete: boolean;
  readonly tools: readonly ToolRecord[];
  readonly categories: readonly LoadingCategory[];
  readonly agents: readonly AgentRecord[];
}

/** Lists that are one object have one set: most are empty, and the same in many agents. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();
const NOTHING: ReadonlySet<string> = new Set();
const NO_OVERRIDES: ReadonlyMap<string, ToolOverride> = new Map();

function setOf(list: readonly string[]): ReadonlySet<string> {
  if (list.length === 0) return NOTHING;
  const known = sets.get(list);
  if (known !== undefined) return known;
  const set = new Set(list);
  sets.set(list, set);
  return set;
}

export function policyAgent(record: AgentRecord): PolicyAgent {
  const { tools, availableTools, toolOverrides, subagentConfig, skills } = record.document;
  const overrides = Object.entries(toolOverrides);
  return {
    agentId: record.agentId,
    record,
    inheritsCore: tools.inheritCoreTools,
    enabled: setOf(tools.enabled),
    disabled: setOf(tools.disabled),
    availableTools: availableTools && setOf(availableTools),
    overrides: overrides.length === 0 ? NO_OVERRIDES : new Map(overrides),
    subagentsOn: subagentConfig.enabled,
    subagentTools: subagentConfig.allowedToolNames && setOf(subagentConfig.allowedToolNames),
    skillEntries: setOf(skills.map(({ entry }) => entry)),
  };
}

/** By (effective `sort`, `name`). */
export const inOrder = (tools: readonly CatalogTool[]): CatalogTool[] => [...tools].sort((a, b) => a.effective.sort - b.effective.sort || byText(a.name, b.name));

/** The view after the delta; what did not change is shared with the view before. */
export function applyDelta(before: PolicyView | null, delta: PolicyDelta): PolicyView {
  const base = delta.complete ? null : before;
  const byName = new Map(base?.byName);
  for (const record of delta.tools) byName.set(record.name, catalogTool(record));
  const agents = new Map(base?.agents);
  for (const record of delta.agents) agents.set(record.agentId, policyAgent(record));
  const { incarnation, revision, settings, settingsRevision, categories } = delta;
  const tools = base !== null && delta.tools.length === 0 ? base.tools : inOrder([...byName.values()]);
  return { incarnation, revision, settings, settingsRevision, categories, tools, byName, agents, ...loadingParts(tools, categories, base) };
}

function loadingParts(tools: readonly CatalogTool[], categories: readonly LoadingCategory[], base: PolicyView | null): Pick<PolicyView, 'loadingGroups' | 'deferrable'> {
  if (base?.tools === tools && equalJson(base.categories, categories)) return { loadingGroups: base.loadingGroups, deferrable: base.deferrable };
  const loadingGroups = loadingRegistry(tools, categories);
  return { loadingGroups, deferrable: new Set(loadingGroups.flatMap((group) => group.tools)) };
}

/** The agents that exist. */
export interface KnownAgents {
  has(agentId: string): boolean;
}

/** Whom this agent may start: none unless sub-agents are on; then its presets, without unknown agents and itself. */
export function effectiveTargets(agents: KnownAgents, agent: PolicyAgent): readonly string[] {
  if (!agent.subagentsOn) return [];
  return agent.record.document.subagentConfig.allowedPresetAgentIds.filter((agentId) => agentId !== agent.agentId && agents.has(agentId));
}
