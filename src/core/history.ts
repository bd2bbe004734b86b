/** What a governance write leaves behind: who changed what, from what, to what. Enough of it is kept to take the change back. */
import type { AgentDocument, AgentRecord, Origin } from './agent-document.js';
import type { Declaration, Governance, LoadingCategory, ToolRecord } from './catalog.js';
import { byText } from './json.js';
import type { JsonObject } from './json.js';
import type { Settings } from './settings.js';

export const ENTITIES = ['sync', 'tool', 'agent', 'settings'] as const;
export const ACTIONS = ['sync', 'create', 'update', 'delete', 'revert'] as const;

export type Entity = (typeof ENTITIES)[number];
export type Action = (typeof ACTIONS)[number];

/** Whose key it was, or which person's token; the name is the one of then. */
export interface Actor {
  /** Of a person: {@link personId}. */
  readonly keyId: string;
  readonly name: string;
}

export const ACTOR_TYPES = ['key', 'platform', 'person'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

/** The platform key has no id of its own; a tenant's keys have ids of 16 letters, digits, `-` and `_`, so none is called this. */
export const PLATFORM_ID = 'platform';

const PERSON = 'person:';

/** A person stands where a key does, by the `sub` of the issuer. No key has a colon in its id. */
export const personId = (subject: string): string => PERSON + subject;

export function actorType({ keyId }: Pick<Actor, 'keyId'>): ActorType {
  if (keyId.startsWith(PERSON)) return 'person';
  return keyId === PLATFORM_ID ? 'platform' : 'key';
}

/** An agent as history keeps it. */
export interface AgentState extends AgentDocument {
  readonly agentId: string;
  readonly origin: Origin;
  readonly legacy: JsonObject | null;
}

/** What ops decided about a tool. */
export interface OverridesState {
  readonly name: string;
  readonly source: string;
  readonly governance: Governance;
}

/** A whole tool, of a write that took it away or brought it back. */
export interface ToolState extends OverridesState {
  readonly availability: 'available' | 'unavailable';
  readonly declaration: Declaration;
}

/** A tool that a sync touched. Its overrides are named only where the tool itself came or went, for a sync touches no others. */
export interface DeclaredTool {
  readonly name: string;
  readonly availability: 'available' | 'unavailable';
  readonly declaration: Declaration;
  readonly governance?: Governance;
}

/** Those of a source's tools that a sync touched, by name, and its categories where it touched them. */
export interface DeclaredState {
  readonly tools: readonly DeclaredTool[];
  readonly categories: readonly Omit<LoadingCategory, 'source'>[] | null;
}

/** Null: it was not there, or is not there any more. */
interface Between<State> {
  readonly id: string;
  readonly before: State;
  readonly after: State;
}

export type AgentChange = { readonly entity: 'agent' } & Between<AgentState | null>;
export type ToolChange = { readonly entity: 'tool' } & Between<ToolState | OverridesState | null>;
/** The id is the source. */
export type SyncChange = { readonly entity: 'sync' } & Between<DeclaredState>;
/** The id is `settings`. */
export type SettingsChange = { readonly entity: 'settings' } & Between<Settings>;
export type Change = AgentChange | ToolChange | SyncChange | SettingsChange;

export interface EntryHead extends Pick<Change, 'entity' | 'id'> {
  /** The one that the write took. */
  readonly revision: number;
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly actor: Actor;
  readonly requestId: string;
  readonly action: Action;
  /** The revision whose entry it took back, or null. */
  readonly reverts: number | null;
}

export type HistoryEntry = EntryHead & Change;

/** An entry as a list holds it; `change` is null where it is too large for one. */
export interface ListedEntry extends EntryHead {
  readonly change: Change | null;
}

const availabilityOf = ({ available }: Pick<ToolRecord, 'available'>): DeclaredTool['availability'] => (available ? 'available' : 'unavailable');

export const agentState = ({ agentId, document, origin, legacy }: Pick<AgentRecord, 'agentId' | 'document' | 'origin' | 'legacy'>): AgentState => ({ agentId, ...document, origin, legacy });

/** The agent that a state is of. */
export const agentOf = ({ agentId, origin, legacy, ...document }: AgentState): Pick<AgentRecord, 'agentId' | 'document' | 'origin' | 'legacy'> => ({ agentId, document, origin, legacy });

export const overridesState = ({ name, source, governance }: ToolRecord): OverridesState => ({ name, source, governance });

export const toolState = (tool: Omit<ToolRecord, 'revision'>): ToolState => {
  const { name, source, declaration, governance } = tool;
  return { name, source, availability: availabilityOf(tool), declaration, governance };
};

export const isWhole = (state: ToolState | OverridesState): state is ToolState => 'declaration' in state;

export const declaredTool = (tool: Pick<ToolRecord, 'name' | 'available' | 'declaration'>): DeclaredTool => ({ name: tool.name, availability: availabilityOf(tool), declaration: tool.declaration });

/** The categories of one source, by key. */
export const categoriesOf = (source: string, categories: readonly LoadingCategory[]): Omit<LoadingCategory, 'source'>[] =>
  categories.filter((category) => category.source === source).map(({ source: _, ...category }) => category).sort((a, b) => byText(a.key, b.key));

/** What became of each tool that a sync, or the revert of one, touched. */
export interface SyncSummary {
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly restored: readonly string[];
  readonly missing: readonly string[];
  /** By a revert alone: no longer registered. */
  readonly removed: readonly string[];
}

export function summaryOf({ before, after }: Pick<SyncChange, 'before' | 'after'>): SyncSummary {
  const was = new Map(before.tools.map((tool) => [tool.name, tool]));
  const is = new Set(after.tools.map(({ name }) => name));
  const kinds = after.tools.map((tool) => [tool.name, kindOf(was.get(tool.name), tool)] as const);
  const named = (kind: string): string[] => kinds.filter(([, of]) => of === kind).map(([name]) => name);
  return { added: named('added'), updated: named('updated'), restored: named('restored'), missing: named('missing'), removed: [...was.keys()].filter((name) => !is.has(name)) };
}

function kindOf(was: DeclaredTool | undefined, is: DeclaredTool): string {
  if (was === undefined) return 'added';
  if (was.availability === is.availability) return 'updated';
  return is.availability === 'available' ? 'restored' : 'missing';
}
