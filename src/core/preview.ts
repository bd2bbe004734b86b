/** What would be, were something saved: the same view with that one thing replaced, compiled as it is after a save. */
import type { AgentDocument, AgentDocumentInput, AgentRecord } from './agent-document.js';
import { normaliseDocument } from './agent-document.js';
import type { ToolRecord } from './catalog.js';
import type { JsonObject } from './json.js';
import { mergePatch } from './json.js';
import { isLegacy, migrateLegacy, unknownToolsets } from './migrate-legacy.js';
import type { PolicyView } from './policy-view.js';
import { applyDelta } from './policy-view.js';
import type { Settings } from './settings.js';

/** What is to be taken as saved. */
export interface AsSaved {
  readonly tools?: readonly ToolRecord[];
  readonly agents?: readonly AgentRecord[];
  readonly settings?: Settings;
}

/** The view after such a save, at the revision of now: nothing is saved. */
export function viewWith(view: PolicyView, { tools = [], agents = [], settings = view.settings }: AsSaved): PolicyView {
  const { incarnation, revision, settingsRevision, categories } = view;
  return applyDelta(view, { incarnation, revision, settings, settingsRevision, categories, complete: false, tools, agents });
}

/** What is drafted for one agent: merged in this order, each as a JSON merge patch. Null = nothing. */
export interface Drafts {
  readonly draft: JsonObject | null;
  /** Into `tools`. */
  readonly draftAgentTools: JsonObject | null;
  /** Into one member of `toolOverrides`. */
  readonly draftToolOverride: { readonly toolName: string; readonly patch: JsonObject } | null;
}

/** The document as it would be sent: what is saved now, or nothing, with the drafts merged into it. */
export function draftedInput(saved: AgentDocument | null, { draft, draftAgentTools, draftToolOverride }: Drafts): AgentDocumentInput {
  const patches = [draft, draftAgentTools && { tools: draftAgentTools }, draftToolOverride && { toolOverrides: { [draftToolOverride.toolName]: draftToolOverride.patch } }];
  return patches.reduce<unknown>((document, patch) => mergePatch(document, patch ?? {}), saved ?? {}) as AgentDocumentInput;
}

/** The agent as saving would store it, or the toolsets for which saving would refuse it. */
export type Drafted = { readonly record: AgentRecord } | { readonly unknownToolsets: readonly string[] };

/** As saving has it: a patch of a saved agent never makes an old document of it, and an agent that is new may come in the old form. */
export function draftedAgent(view: PolicyView, agentId: string, input: AgentDocumentInput): Drafted {
  const before = view.agents.get(agentId)?.record ?? null;
  const record = (document: AgentDocument): Drafted => ({ record: { agentId, document, origin: 'native', legacy: before?.legacy ?? null, revision: view.revision, updatedAt: before?.updatedAt ?? '' } });
  if (before !== null || !isLegacy(input)) return record(normaliseDocument(agentId, input));
  const unknown = unknownToolsets(input.toolsets, view);
  return unknown.length > 0 ? { unknownToolsets: unknown } : record(migrateLegacy(agentId, input, view).document);
}

/** Which names come and which go. */
export interface NameDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Each in the order of its own list. */
export function diffOf(now: readonly string[], then: readonly string[]): NameDiff {
  const [before, after] = [new Set(now), new Set(then)];
  return { added: then.filter((name) => !before.has(name)), removed: now.filter((name) => !after.has(name)) };
}
