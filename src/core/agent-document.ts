/** Per-agent configuration: what is saved, its one normal form, and the warnings that saving gives. */
import type { Declaration, OverriddenExtra } from './catalog.js';
import { comesByDefault, isLocked } from './catalog.js';
import { byText, unique } from './json.js';
import type { JsonObject } from './json.js';
import { isLongerThan } from './text.js';

export interface ToolOverride {
  readonly promptHint?: string;
  readonly description?: string;
  readonly label?: string;
  readonly extra?: OverriddenExtra;
}

export interface Skill {
  readonly name: string;
  readonly entry: string;
}

export interface SubagentConfig {
  readonly enabled: boolean;
  readonly maxConcurrency: number;
  /** Null = no ceiling, `[]` = nothing. */
  readonly allowedToolNames: readonly string[] | null;
  readonly allowedPresetAgentIds: readonly string[];
}

export interface AgentTools {
  readonly inheritCoreTools: boolean;
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
}

export interface AgentDocument {
  readonly displayName: string;
  readonly tools: AgentTools;
  /** Null = no ceiling, `[]` = nothing outside it. It does not grant. */
  readonly availableTools: readonly string[] | null;
  readonly toolOverrides: Readonly<Record<string, ToolOverride>>;
  readonly subagentConfig: SubagentConfig;
  readonly skills: readonly Skill[];
  /** Of the old form, retained where the new one is there too; decides nothing. */
  readonly toolsets?: readonly string[];
}

/** `legacy` until the first save that changes something. */
export type Origin = 'native' | 'legacy';

/** An agent as it is stored. */
export interface AgentRecord {
  readonly agentId: string;
  readonly document: AgentDocument;
  readonly origin: Origin;
  /** The raw legacy document that was converted last, or null. */
  readonly legacy: JsonObject | null;
  readonly revision: number;
  /** RFC 3339, UTC. */
  readonly updatedAt: string;
}

export const WARNING_CODES = ['UNKNOWN_TOOL', 'UNKNOWN_AGENT', 'IN_BOTH_LISTS', 'NO_EFFECT', 'UNKNOWN_TOOLSET', 'CONFIRM_REMOVALS', 'NATIVE_DEFERRAL_UNSUPPORTED', 'SCHEMA_NOT_SUPPORTED', 'DESCRIPTION_CUT', 'DEFINITION_LIMIT'] as const;

export interface Warning {
  readonly code: (typeof WARNING_CODES)[number];
  readonly message: string;
  readonly name?: string;
  readonly path?: string;
}

/** A document as it is sent, its shape checked: an absent or null member means the default. */
type Loose<T> = { readonly [K in keyof T]?: (T[K] extends AgentTools | SubagentConfig ? Loose<T[K]> : T[K]) | null };
export type AgentDocumentInput = Loose<Omit<AgentDocument, 'toolOverrides'>> & {
  readonly toolOverrides?: Readonly<Record<string, Loose<ToolOverride> | null>> | null;
};

/** INVARIANT (absent is not empty): null is no opinion, `[]` is nothing, and no road turns one into the other. The normal form: defaults filled in, repeats collapsed to the first, overrides without empty members. */
export function normaliseDocument(agentId: string, input: AgentDocumentInput): AgentDocument {
  return {
    displayName: input.displayName ?? agentId,
    tools: normaliseTools(input.tools ?? {}),
    availableTools: input.availableTools ? unique(input.availableTools) : null,
    toolOverrides: normaliseOverrides(input.toolOverrides ?? {}),
    subagentConfig: normaliseSubagents(input.subagentConfig ?? {}),
    skills: (input.skills ?? []).map(({ name, entry }) => ({ name, entry })),
    ...(input.toolsets ? { toolsets: unique(input.toolsets) } : {}),
  };
}

const normaliseTools = ({ inheritCoreTools, enabled, disabled }: Loose<AgentTools>): AgentTools => ({
  inheritCoreTools: inheritCoreTools ?? true,
  enabled: unique(enabled ?? []),
  disabled: unique(disabled ?? []),
});

const normaliseSubagents = ({ enabled, maxConcurrency, allowedToolNames, allowedPresetAgentIds }: Loose<SubagentConfig>): SubagentConfig => ({
  enabled: enabled ?? false,
  maxConcurrency: maxConcurrency ?? 1,
  allowedToolNames: allowedToolNames ? unique(allowedToolNames) : null,
  allowedPresetAgentIds: unique(allowedPresetAgentIds ?? []),
});

function normaliseOverrides(overrides: Readonly<Record<string, Loose<ToolOverride> | null>>): Record<string, ToolOverride> {
  const kept = Object.entries(overrides).map(([name, override]) => [name, compactOverride<ToolOverride>(override ?? {})] as const);
  return Object.fromEntries(kept.filter(([, override]) => Object.keys(override).length > 0));
}

/** An override without what overrides nothing: null members, known members of `extra` that are null, an empty `extra`. */
export function compactOverride<T extends { readonly extra?: OverriddenExtra }>(override: { readonly [K in keyof T]?: T[K] | null }): T {
  const { extra, ...rest } = override;
  const set = Object.entries(rest).filter(([, member]) => member !== null);
  const extras = Object.entries(extra ?? {}).filter(([key, member]) => member !== null || !KNOWN_EXTRA.has(key));
  return Object.fromEntries([...set, ...(extras.length === 0 ? [] : [['extra', Object.fromEntries(extras)] as const])]) as T;
}

const KNOWN_EXTRA = new Set(['workerRoutingStrategy', 'allowInSubagent']);

/** What a body may not be at once, a document may not become step by step either: what it is beyond, in words, or null. */
export function beyondLimit({ tools, toolOverrides, ...rest }: AgentDocumentInput, { listLength, bodyBytes }: { readonly listLength: number; readonly bodyBytes: number }): string | null {
  const sizes = { '/tools/enabled': tools?.enabled?.length, '/tools/disabled': tools?.disabled?.length, '/toolOverrides': Object.keys(toolOverrides ?? {}).length };
  const tooLong = Object.entries(sizes).find(([, size = 0]) => size > listLength);
  if (tooLong !== undefined) return `\`${tooLong[0]}\` would have more than ${listLength} members`;
  return isLongerThan(JSON.stringify({ tools, toolOverrides, ...rest }), bodyBytes) ? `the document would be larger than ${bodyBytes} bytes` : null;
}

/** What warnings need to know of the tenant. */
export interface NamesKnown {
  readonly tool: (name: string) => Declaration | undefined;
  readonly agent: (agentId: string) => boolean;
}

/** Every name in the document that a tool is meant by, with the place of its list. */
function namedTools(document: AgentDocument): (readonly [path: string, names: readonly string[]])[] {
  return [
    ['/tools/enabled', document.tools.enabled],
    ['/tools/disabled', document.tools.disabled],
    ['/availableTools', document.availableTools ?? []],
    ['/toolOverrides', Object.keys(document.toolOverrides)],
    ['/subagentConfig/allowedToolNames', document.subagentConfig.allowedToolNames ?? []],
  ];
}

export const toolNamesIn = (document: AgentDocument): string[] => unique(namedTools(document).flatMap(([, names]) => names)).sort(byText);

/** Names that are not known and entries that do nothing. Warnings never block and never widen. */
export function documentWarnings(document: AgentDocument, known: NamesKnown): Warning[] {
  return [...unknownNames(document, known), ...inBothLists(document), ...withoutEffect(document, known)];
}

function unknownNames(document: AgentDocument, known: NamesKnown): Warning[] {
  const tools = namedTools(document).flatMap(([path, names]) =>
    names.filter((name) => known.tool(name) === undefined).map((name) => ({ code: 'UNKNOWN_TOOL' as const, message: `no tool \`${name}\` is registered`, name, path })));
  const agents = document.subagentConfig.allowedPresetAgentIds
    .filter((agentId) => !known.agent(agentId))
    .map((name) => ({ code: 'UNKNOWN_AGENT' as const, message: `there is no agent \`${name}\``, name, path: '/subagentConfig/allowedPresetAgentIds' }));
  return [...tools, ...agents];
}

function inBothLists({ tools }: AgentDocument): Warning[] {
  const disabled = new Set(tools.disabled);
  return tools.enabled
    .filter((name) => disabled.has(name))
    .map((name) => ({ code: 'IN_BOTH_LISTS', message: `\`${name}\` is enabled and disabled: it stays closed`, name, path: '/tools' }));
}

function withoutEffect({ tools, toolOverrides }: AgentDocument, known: NamesKnown): Warning[] {
  const idle = (name: string, path: string, message: string): Warning => ({ code: 'NO_EFFECT', message, name, path });
  const enabled = tools.enabled.flatMap((name) => {
    const tool = known.tool(name);
    if (tool?.role === 'delegate') return [idle(name, '/tools/enabled', `\`${name}\` is granted by its target agent alone`)];
    if (tool !== undefined && comesByDefault(tool, tools.inheritCoreTools)) return [idle(name, '/tools/enabled', `\`${name}\` is a core tool and granted already`)];
    return [];
  });
  const disabled = tools.disabled.flatMap((name) => {
    const tool = known.tool(name);
    return tool !== undefined && isLocked(tool) ? [idle(name, '/tools/disabled', `\`${name}\` is locked and can not be closed`)] : [];
  });
  const overrides = Object.entries(toolOverrides)
    .filter(([, { extra }]) => extra?.allowInSubagent === true)
    .map(([name]) => idle(name, '/toolOverrides', `\`allowInSubagent: true\` on \`${name}\` has no effect: an agent can only narrow`));
  return [...enabled, ...disabled, ...overrides];
}
