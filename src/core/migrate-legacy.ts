/** Documents of the old form, `{toolsets, tools: {disabled}}`, turned into single tools exactly once (semantics, section 6). */
import type { AgentDocument, AgentDocumentInput, AgentRecord, Warning } from './agent-document.js';
import { normaliseDocument } from './agent-document.js';
import type { CatalogTool } from './catalog.js';
import { isOpen } from './catalog.js';
import { equalJson, unique } from './json.js';
import type { JsonObject } from './json.js';
import { agentStage, agentSubject, grantStage } from './pipeline.js';
import type { KnownAgents } from './policy-view.js';
import { policyAgent } from './policy-view.js';

/** What a conversion widens and narrows against the old rule, told before anything is written. */
export interface Widening {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface Migration extends Widening {
  readonly document: AgentDocument;
  readonly warnings: readonly Warning[];
}

export interface MigrationFacts {
  /** By (`sort`, `name`), as in a view. */
  readonly tools: readonly CatalogTool[];
  readonly agents: KnownAgents;
}

/** Old form: toolsets, and neither member of the new structure. Where the new one is there, it wins. */
export function isLegacy<T extends AgentDocumentInput>(input: T): input is T & { readonly toolsets: readonly string[] } {
  const { toolsets, tools } = input;
  return Boolean(toolsets) && (tools?.inheritCoreTools ?? null) === null && (tools?.enabled ?? null) === null;
}

/** Whether this very raw document was converted already: then nothing is read again, not even with `force`. */
export const isSameLegacy = (record: AgentRecord | null, raw: JsonObject): boolean => record?.legacy != null && equalJson(record.legacy, rawLegacy(raw));

/** The raw document as it is retained: the agent's id is not part of it. */
export const rawLegacy = (raw: JsonObject): JsonObject => Object.fromEntries(Object.entries(raw).filter(([key]) => key !== 'agentId'));

/** Toolsets that no registered tool carries: they block the agent, or are dropped by `force`. */
export function unknownToolsets(toolsets: readonly string[], { tools }: Pick<MigrationFacts, 'tools'>): string[] {
  const known = new Set(tools.map(({ effective }) => effective.toolset));
  return unique(toolsets).filter((toolset) => !known.has(toolset));
}

export const unknownToolsetWarning = (name: string): Warning => ({
  code: 'UNKNOWN_TOOLSET',
  message: `no registered tool is in the toolset \`${name}\``,
  name,
  path: '/toolsets',
});

/** The toolset is read here and nowhere else: a tool that joins it later is not enabled by it. */
export function migrateLegacy(agentId: string, input: AgentDocumentInput & { readonly toolsets: readonly string[] }, facts: MigrationFacts): Migration {
  const { toolsets, ...rest } = input;
  const carried = new Set(toolsets);
  const ofToolsets = facts.tools.filter((tool) => carried.has(tool.effective.toolset) && isOpen(tool));
  const enabled = ofToolsets.filter(({ effective }) => !effective.isCore && effective.role !== 'delegate').map(({ name }) => name);
  const document = normaliseDocument(agentId, { ...rest, tools: { inheritCoreTools: true, enabled, disabled: rest.tools?.disabled ?? [] } });
  const dropped = unknownToolsets(toolsets, facts).map(unknownToolsetWarning);
  return { document, warnings: dropped, ...widening(agentId, document, ofToolsets, facts) };
}

function widening(agentId: string, document: AgentDocument, ofToolsets: readonly CatalogTool[], { tools, agents }: MigrationFacts): Widening {
  const agent = policyAgent({ agentId, document, origin: 'legacy', legacy: null, revision: 0, updatedAt: '' });
  const subject = agentSubject(agents, agent);
  const closed = new Set(document.tools.disabled);
  const before = new Set(ofToolsets.filter(({ name }) => !closed.has(name)).map(({ name }) => name));
  const after = new Set(tools.filter((tool) => isOpen(tool) && grantStage(tool, subject) === null && agentStage(tool, subject) === null).map(({ name }) => name));
  const names = tools.map(({ name }) => name);
  return { added: names.filter((name) => after.has(name) && !before.has(name)), removed: names.filter((name) => before.has(name) && !after.has(name)) };
}
