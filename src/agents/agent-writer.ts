import type { AgentDocument, AgentDocumentInput, AgentRecord, NamesKnown, Warning } from '../core/agent-document.js';
import { beyondLimit, documentWarnings, normaliseDocument, toolNamesIn } from '../core/agent-document.js';
import type { CatalogTool } from '../core/catalog.js';
import { catalogTool, effectiveOf } from '../core/catalog.js';
import { equalJson } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import type { Widening } from '../core/migrate-legacy.js';
import { isLegacy, isSameLegacy, migrateLegacy, rawLegacy, unknownToolsetWarning, unknownToolsets } from '../core/migrate-legacy.js';
import { inOrder } from '../core/policy-view.js';
import type { GovernanceUnit } from '../governance/governance.store.js';
import type { Limits } from '../platform/config/config.js';
import { AppError } from '../platform/errors/app-error.js';

export type SaveStatus = 'imported' | 'unchanged' | 'blocked';

/** What saving one document came to. In a dry run: what it would come to. */
export interface Saved {
  readonly status: SaveStatus;
  /** Null for a blocked agent that is not there. */
  readonly record: AgentRecord | null;
  readonly warnings: readonly Warning[];
  /** Null for a document of the new form. */
  readonly widening: Widening | null;
}

export interface SaveOptions {
  /** The tenant's tools by (`sort`, `name`), read once in a write. */
  readonly tools: () => Promise<readonly CatalogTool[]>;
  readonly dryRun: boolean;
  /** Drops unknown toolsets instead of blocking. */
  readonly force: boolean;
  /** Agents that the same import brings: they count as there, whatever their place in it. */
  readonly alongside: ReadonlySet<string>;
}

const NO_WIDENING: Widening = { added: [], removed: [] };

/** A document as it was sent, its shape checked. */
export type DocumentInput = AgentDocumentInput & JsonObject;

type LegacyInput = DocumentInput & { readonly toolsets: readonly string[] };

/** Saves a document of either form inside a write. */
export async function saveDocument(unit: GovernanceUnit, agentId: string, input: DocumentInput, options: SaveOptions): Promise<Saved> {
  const before = await unit.findAgent(agentId);
  return isLegacy(input) ? saveLegacy(unit, { agentId, before, input, options }) : saveNative(unit, { agentId, before, input, options });
}

/** The ids of the documents that an import will not block: agents that are there once it is done. */
export async function admitted(unit: GovernanceUnit, documents: readonly (DocumentInput & { readonly agentId: string })[], force: boolean, read: SaveOptions['tools']): Promise<ReadonlySet<string>> {
  const ids = new Set(documents.map(({ agentId }) => agentId));
  const legacy = force ? [] : documents.filter(isLegacy);
  if (legacy.length === 0) return ids;
  const tools = await read();
  for (const document of legacy) {
    const known = isSameLegacy(await unit.findAgent(document.agentId), document) || unknownToolsets(document.toolsets, { tools }).length === 0;
    if (!known) ids.delete(document.agentId);
  }
  return ids;
}

/** Reads the tenant's tools when they are first asked for, and then no more. */
export function orderedTools(unit: GovernanceUnit): SaveOptions['tools'] {
  let reading: Promise<readonly CatalogTool[]> | null = null;
  return () => (reading ??= unit.catalog().then(({ tools }) => inOrder(tools.map(catalogTool))));
}

/** For one document, written and not forced. */
export const plainly = (unit: GovernanceUnit): SaveOptions => ({ tools: orderedTools(unit), dryRun: false, force: false, alongside: new Set() });

export function requireWithinLimits(document: DocumentInput, limits: Limits): void {
  const beyond = beyondLimit(document, limits);
  if (beyond !== null) throw new AppError('LIMIT_EXCEEDED', beyond);
}

interface ToSave<Input = DocumentInput> {
  readonly agentId: string;
  readonly before: AgentRecord | null;
  readonly input: Input;
  readonly options: SaveOptions;
}

/** Saves a document of the new form, whatever it looks like: a patch of one never makes an old one of it. */
export async function saveNative(unit: GovernanceUnit, { agentId, before, input, options }: ToSave): Promise<Saved> {
  const document = normaliseDocument(agentId, input);
  const warnings = await warningsFor(unit, document, agentId, options);
  if (before !== null && equalJson(before.document, document)) return { status: 'unchanged', record: before, warnings, widening: null };
  const toSave = { agentId, document, origin: 'native' as const, legacy: before?.legacy ?? null };
  return { status: 'imported', record: await save(unit, toSave, options), warnings, widening: null };
}

async function saveLegacy(unit: GovernanceUnit, { agentId, before, input, options }: ToSave<LegacyInput>): Promise<Saved> {
  if (before !== null && isSameLegacy(before, input)) {
    return { status: 'unchanged', record: before, warnings: await warningsFor(unit, before.document, agentId, options), widening: NO_WIDENING };
  }
  const tools = await options.tools();
  const unknown = unknownToolsets(input.toolsets, { tools });
  if (unknown.length > 0 && !options.force) return { status: 'blocked', record: before, warnings: unknown.map(unknownToolsetWarning), widening: NO_WIDENING };
  const agents = await knownAgents(unit, input.subagentConfig?.allowedPresetAgentIds ?? [], options);
  const { document, warnings, added, removed } = migrateLegacy(agentId, input, { tools, agents });
  const record = await save(unit, { agentId, document, origin: 'legacy', legacy: rawLegacy(input) }, options);
  return { status: 'imported', record, warnings: [...warnings, ...(await warningsFor(unit, document, agentId, options))], widening: { added, removed } };
}

type ToStore = Pick<AgentRecord, 'agentId' | 'document' | 'origin' | 'legacy'>;

const save = async (unit: GovernanceUnit, record: ToStore, { dryRun }: SaveOptions): Promise<AgentRecord> =>
  dryRun ? { ...record, revision: unit.revision, updatedAt: new Date().toISOString() } : unit.saveAgent(record);

const knownAgents = async (unit: GovernanceUnit, agentIds: readonly string[], { alongside }: SaveOptions): Promise<ReadonlySet<string>> =>
  new Set([...(await unit.existingAgents(agentIds)), ...alongside]);

async function warningsFor(unit: GovernanceUnit, document: AgentDocument, agentId: string, options: SaveOptions): Promise<Warning[]> {
  const tools = new Map((await unit.tools(toolNamesIn(document))).map((record) => [record.name, effectiveOf(record)]));
  const agents = await knownAgents(unit, document.subagentConfig.allowedPresetAgentIds, options);
  const known: NamesKnown = { tool: (name) => tools.get(name), agent: (id) => id === agentId || agents.has(id) };
  return documentWarnings(document, known);
}
