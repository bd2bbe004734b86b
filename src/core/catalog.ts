/** What is known of a tool: its source's declaration, what ops decided, and the two laid over one another. */
import type { JsonObject } from './json.js';

export const VISIBILITIES = ['tool', 'skill', 'internal'] as const;
export const CAPABILITIES = ['text', 'vision', 'multimodal'] as const;
export const KINDS = ['read', 'write'] as const;
export const ROLES = ['ordinary', 'delegate', 'spawn'] as const;
export const STATUSES = ['enabled', 'disabled'] as const;
export const FILESYSTEMS = ['none', 'read', 'write'] as const;
export const ROUTING_STRATEGIES = ['auto', 'worker-local', 'main-process-proxy', 'disabled'] as const;

/** A place in a list is an integer of 32 bits. */
export const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 } as const;

export type Visibility = (typeof VISIBILITIES)[number];
export type Capability = (typeof CAPABILITIES)[number];
export type Kind = (typeof KINDS)[number];
export type Role = (typeof ROLES)[number];
export type Status = (typeof STATUSES)[number];
export type RoutingStrategy = (typeof ROUTING_STRATEGIES)[number];

/** What a tool needs of the session that it runs in. */
export interface RuntimeNeeds {
  readonly filesystem: (typeof FILESYSTEMS)[number];
  readonly shell: boolean;
  readonly network: boolean;
  readonly mainProcess: boolean;
  /** Execution backends. Reported, never decided on. */
  readonly operations: readonly string[];
}

/** Takes part in intent recognition; `when` is a CEL expression, absent = always. */
export interface Intent {
  readonly description: string | null;
  readonly when: string | null;
  /** A set: kept sorted. */
  readonly delegates: readonly string[];
}

export interface Renderer {
  readonly key: string;
  readonly capabilities: readonly string[];
}

/** Known members are checked, others pass through. */
export interface ToolExtra extends JsonObject {
  readonly workerRoutingStrategy: RoutingStrategy;
  readonly allowInSubagent: boolean;
}

/** A source's word on one tool, with every default filled in (semantics, section 1). */
export interface Declaration {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly toolset: string;
  readonly visibility: Visibility;
  readonly capability: Capability;
  readonly kind: Kind;
  readonly role: Role;
  /** The agent behind a `delegate`; null for every other role. */
  readonly targetAgentId: string | null;
  /** The argument of a `spawn` tool that names the agent to start. */
  readonly targetArgument: string | null;
  readonly isCore: boolean;
  readonly canDisable: boolean;
  readonly status: Status;
  readonly sort: number;
  readonly supportsPromptHint: boolean;
  readonly promptHint: string | null;
  /** Null fits every scene, `[]` fits none. */
  readonly scenes: readonly string[] | null;
  /** A CEL expression, or null for always. */
  readonly active: string | null;
  readonly requiresSkillEntry: string | null;
  readonly intent: Intent | null;
  readonly loadingCategory: string | null;
  readonly keywords: readonly string[];
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  /** Handed through; never decides. */
  readonly annotations: JsonObject;
  readonly runtime: RuntimeNeeds;
  readonly renderer: Renderer | null;
  readonly extra: ToolExtra;
}

/** `extra` as an override: the known members are checked, others pass through. */
export interface OverriddenExtra extends JsonObject {
  readonly workerRoutingStrategy?: RoutingStrategy;
  readonly allowInSubagent?: boolean;
}

/** Ops' overrides; an absent member leaves the declaration as it is. A sync never touches them. */
export interface Governance {
  readonly status?: Status;
  readonly isCore?: boolean;
  readonly canDisable?: boolean;
  readonly label?: string;
  readonly description?: string;
  readonly promptHint?: string;
  readonly sort?: number;
  readonly extra?: OverriddenExtra;
}

/** A tool as it is stored. `revision` is the tenant's revision at which this record last changed. */
export interface ToolRecord {
  readonly name: string;
  readonly source: string;
  readonly available: boolean;
  readonly declaration: Declaration;
  readonly governance: Governance;
  readonly revision: number;
}

/** A group of deferrable tools, declared by a source beside its tools. */
export interface LoadingCategory {
  readonly source: string;
  readonly key: string;
  readonly label: string;
  readonly whenToUse: string;
  readonly sort: number;
}

/** The static picture of what a tool needs, and where it is told to run. */
export interface RuntimeProfile extends RuntimeNeeds {
  readonly workerRoutingStrategy: RoutingStrategy;
}

/** A tool ready to be decided on: the record with its effective values. */
export interface CatalogTool {
  readonly name: string;
  readonly record: ToolRecord;
  readonly effective: Declaration;
  /** Always granted and never closed by an agent's lists. */
  readonly locked: boolean;
  /** For every agent that does not override the strategy. */
  readonly profile: RuntimeProfile;
}

/** Override, else declaration: the declaration itself where nothing is overridden, which is most tools of most tenants. */
export function effectiveOf({ declaration, governance }: Pick<ToolRecord, 'declaration' | 'governance'>): Declaration {
  if (Object.keys(governance).length === 0) return declaration;
  return { ...declaration, ...governance, extra: { ...declaration.extra, ...governance.extra } };
}

/** Effective core that can not be disabled; a delegate is never locked. */
export const isLocked = (effective: Declaration): boolean => effective.isCore && !effective.canDisable && effective.role !== 'delegate';

/** Without being named: core and inherited, or locked; never a delegate. */
export const comesByDefault = (effective: Declaration, inheritsCore: boolean): boolean =>
  effective.role !== 'delegate' && effective.isCore && (inheritsCore || !effective.canDisable);

export function catalogTool(record: ToolRecord): CatalogTool {
  const effective = effectiveOf(record);
  return { name: record.name, record, effective, locked: isLocked(effective), profile: profileOf(effective, effective.extra.workerRoutingStrategy) };
}

const profiles = new WeakMap<RuntimeNeeds, Map<RoutingStrategy, RuntimeProfile>>();

/** Needs that are one object have one profile for each strategy. */
export function profileOf({ runtime }: Declaration, workerRoutingStrategy: RoutingStrategy): RuntimeProfile {
  const known = profiles.get(runtime)?.get(workerRoutingStrategy);
  if (known !== undefined) return known;
  const profile = { ...runtime, workerRoutingStrategy };
  profiles.set(runtime, (profiles.get(runtime) ?? new Map<RoutingStrategy, RuntimeProfile>()).set(workerRoutingStrategy, profile));
  return profile;
}

export const isInternal = (tool: CatalogTool): boolean => tool.effective.visibility === 'internal';

/** Available and not internal. */
export const isOpen = (tool: CatalogTool): boolean => tool.record.available && !isInternal(tool);

/** The argument that names the agent to start. */
export const targetArgumentOf = (effective: Declaration): string => effective.targetArgument ?? 'agent_id';
