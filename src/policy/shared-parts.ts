import { LRUCache } from 'lru-cache';
import type { AgentDocument, AgentRecord } from '../core/agent-document.js';
import type { Declaration, ToolRecord } from '../core/catalog.js';
import type { PolicyDelta } from '../core/policy-view.js';

/** Characters of JSON: of one part, beyond which it seldom comes twice, and of all that are known. */
const MAX_PART = 1_024;
const MAX_ALL = 2 * 1024 * 1024;

const parts = new LRUCache<string, object>({ maxSize: MAX_ALL, sizeCalculation: (_part, text) => text.length });

/**
 * Puts one object in the place of all that are equal, in whichever tenant: most tools of most catalogs need the same of a
 * session, most agents narrow nothing. A replica holds the views of a fifth more tenants for it, and more where catalogs
 * are alike.
 */
export const withSharedParts = (delta: PolicyDelta): PolicyDelta => ({ ...delta, tools: delta.tools.map(tool), agents: delta.agents.map(agent) });

const tool = (record: ToolRecord): ToolRecord => ({ ...record, declaration: declaration(record.declaration), governance: shared(record.governance) });
const agent = (record: AgentRecord): AgentRecord => ({ ...record, document: document(record.document) });

const declaration = (declared: Declaration): Declaration => ({
  ...declared,
  scenes: shared(declared.scenes),
  intent: shared(declared.intent),
  keywords: shared(declared.keywords),
  inputSchema: shared(declared.inputSchema),
  outputSchema: shared(declared.outputSchema),
  annotations: shared(declared.annotations),
  runtime: shared(declared.runtime),
  renderer: shared(declared.renderer),
  extra: shared(declared.extra),
});

const document = (saved: AgentDocument): AgentDocument => ({
  ...saved,
  tools: { ...saved.tools, enabled: shared(saved.tools.enabled), disabled: shared(saved.tools.disabled) },
  availableTools: shared(saved.availableTools),
  toolOverrides: shared(saved.toolOverrides),
  subagentConfig: shared(saved.subagentConfig),
  skills: shared(saved.skills),
});

/** Parts that a second record has too: whoever came first is charged for them. */
const reused = new WeakSet();

export const isReused = (part: object): boolean => reused.has(part);

/** Objects of the same text are equal in everything that an answer can show, the order of their members too. */
function shared<T extends object | null>(part: T): T {
  if (part === null) return part;
  const text = JSON.stringify(part);
  if (text.length > MAX_PART) return part;
  const known = parts.get(text);
  if (known !== undefined) {
    reused.add(known);
    return known as T;
  }
  parts.set(text, frozen(part));
  return part;
}

/** What many tenants see nobody may write to. */
function frozen<T extends object>(part: T): T {
  for (const member of Object.values(part)) if (typeof member === 'object' && member !== null) frozen(member as object);
  return Object.freeze(part);
}
