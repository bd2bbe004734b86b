/** An agent's tools as its editor shows them: from governance and document alone (semantics, sections 6 and 9). */
import { toolNamesIn } from './agent-document.js';
import type { Lock, LockReason, ToolState } from './agent-state.js';
import { STATES, lockOf, stateOf } from './agent-state.js';
import type { Capability, CatalogTool, RuntimeProfile } from './catalog.js';
import { isInternal } from './catalog.js';
import type { RendererBinding } from './decision.js';
import { descriptionFor, labelFor } from './definition.js';
import { rendererOf } from './diagnostic.js';
import { byText } from './json.js';
import type { ConfigurationSubject } from './pipeline.js';
import { asMainAgent, boundaryStage, profileFor, subagentMayUse } from './pipeline.js';
import type { PolicyAgent, PolicyView } from './policy-view.js';
import type { Language, ReasonCode } from './reason.js';
import { reasonOf } from './reason.js';

export interface EditorTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly toolset: string;
  readonly capability: Capability;
  readonly isCore: boolean;
  readonly state: ToolState;
  readonly stateLabel: string;
  readonly available: boolean;
  /** The ceiling that still refuses the tool to this agent as a main agent. */
  readonly blockedBy: ReasonCode | null;
  readonly blockedByLabel: string | null;
  /** `on` goes by the state alone. */
  readonly switch: { readonly on: boolean; readonly locked: boolean; readonly lockReason: LockReason | null };
  readonly lockLabel: string | null;
  readonly effectiveRuntimeProfile: RuntimeProfile;
  readonly effectiveSubagentAllowed: boolean;
  readonly renderer: RendererBinding;
}

export interface EditorSummary {
  readonly total: number;
  readonly enabled: number;
  readonly core: number;
  readonly coreEnabled: number;
  readonly agentDisabled: number;
  readonly globallyDisabled: number;
  /** Names anywhere in the document that are not registered. */
  readonly unknownNames: readonly string[];
}

/** A group for display; it authorises nothing. */
export interface EditorCategory {
  readonly toolset: string;
  readonly total: number;
  readonly enabled: number;
}

export interface EditorView {
  readonly agentId: string;
  readonly revision: number;
  readonly summary: EditorSummary;
  readonly enabledTools: readonly string[];
  readonly categories: readonly EditorCategory[];
  readonly tools: readonly EditorTool[];
}

export const EDITOR_STATUSES = ['enabled', 'off', 'globally_disabled'] as const;
export type EditorStatus = (typeof EDITOR_STATUSES)[number];

/** An absent member filters nothing. */
export interface EditorFilter {
  readonly search?: string | undefined;
  readonly status?: EditorStatus | undefined;
  readonly core?: boolean | undefined;
}

const STATUS_OF: Readonly<Record<ToolState, EditorStatus>> = {
  globally_disabled: 'globally_disabled',
  agent_disabled: 'off',
  default_enabled: 'enabled',
  agent_enabled: 'enabled',
  not_enabled: 'off',
};

/**
 * Registered tools that are not internal, by (`sort`, `name`). An unavailable one is listed and enters no count.
 *
 * INVARIANT (editor): counts and the enabled area are over the whole catalog, whatever the filter, and count a tool as
 * enabled exactly when the pipeline lets it through its stages 0 to 4 for the agent as a main agent.
 */
export function editorView(view: PolicyView, agent: PolicyAgent, filter: EditorFilter, language: Language): EditorView {
  const subject = asMainAgent(view, agent);
  const all = view.tools.filter((tool) => !isInternal(tool)).map((tool) => editorTool(tool, subject, language));
  const counted = all.filter(({ available }) => available);
  return {
    agentId: agent.agentId,
    revision: view.revision,
    summary: summaryOf(counted, toolNamesIn(agent.record.document).filter((name) => !view.byName.has(name))),
    enabledTools: enabledArea(counted),
    categories: categoriesOf(counted),
    tools: filtered(all, filter),
  };
}

function editorTool(tool: CatalogTool, subject: ConfigurationSubject, language: Language): EditorTool {
  const { effective, name } = tool;
  const state = stateOf(tool, subject);
  const ceiling = boundaryStage(tool, subject);
  const lock = lockOf(tool, subject);
  return {
    name,
    label: labelFor(tool, subject),
    description: descriptionFor(tool, subject),
    toolset: effective.toolset,
    capability: effective.capability,
    isCore: effective.isCore,
    state,
    stateLabel: STATES[state][language],
    available: tool.record.available,
    blockedBy: ceiling && ceiling.code,
    blockedByLabel: ceiling && reasonOf(ceiling, language).message,
    ...switchOf(state, lock, language),
    effectiveRuntimeProfile: profileFor(tool, subject.agent),
    effectiveSubagentAllowed: subagentMayUse(tool, subject.agent),
    renderer: rendererOf(tool),
  };
}

const switchOf = (state: ToolState, lock: Lock | null, language: Language): Pick<EditorTool, 'switch' | 'lockLabel'> => ({
  switch: { on: STATUS_OF[state] === 'enabled', locked: lock !== null, lockReason: lock && lock.reason },
  lockLabel: lock && lock.words[language],
});

const isEnabled = ({ state, blockedBy }: EditorTool): boolean => STATUS_OF[state] === 'enabled' && blockedBy === null;

function summaryOf(tools: readonly EditorTool[], unknownNames: readonly string[]): EditorSummary {
  const count = (which: (tool: EditorTool) => boolean): number => tools.filter(which).length;
  return {
    total: tools.length,
    enabled: count(isEnabled),
    core: count(({ isCore }) => isCore),
    coreEnabled: count((tool) => tool.isCore && isEnabled(tool)),
    agentDisabled: count(({ state }) => state === 'agent_disabled'),
    globallyDisabled: count(({ state }) => state === 'globally_disabled'),
    unknownNames,
  };
}

/** What comes by default first, then what is enabled by name; each by (toolset, name). */
function enabledArea(tools: readonly EditorTool[]): string[] {
  const rank = ({ state }: EditorTool): number => Number(state === 'agent_enabled');
  const sorted = tools.filter(isEnabled).sort((a, b) => rank(a) - rank(b) || byText(a.toolset, b.toolset) || byText(a.name, b.name));
  return sorted.map(({ name }) => name);
}

function categoriesOf(tools: readonly EditorTool[]): EditorCategory[] {
  const counts = new Map<string, EditorCategory>();
  for (const tool of tools) {
    const { toolset } = tool;
    const { total, enabled } = counts.get(toolset) ?? { total: 0, enabled: 0 };
    counts.set(toolset, { toolset, total: total + 1, enabled: enabled + Number(isEnabled(tool)) });
  }
  return [...counts.values()].sort((a, b) => byText(a.toolset, b.toolset));
}

function filtered(tools: readonly EditorTool[], { search = '', status, core }: EditorFilter): EditorTool[] {
  const words = search.toLowerCase();
  return tools.filter((tool) =>
    (status === undefined || STATUS_OF[tool.state] === status) && (core === undefined || tool.isCore === core) &&
    [tool.name, tool.label, tool.description].some((text) => text.toLowerCase().includes(words)));
}
