import type { AgentDocument, AgentRecord, Origin } from '../core/agent-document.js';
import type { Declaration, Governance, LoadingCategory, ToolRecord } from '../core/catalog.js';
import type { JsonObject } from '../core/json.js';
import type { Settings } from '../core/settings.js';
import { DEFAULT_SETTINGS } from '../core/settings.js';

/** Rows as the database gives them: JSON is text there, and was checked and normalised when it was written. */
export interface ToolRow {
  readonly name: string;
  readonly source: string;
  readonly available: boolean;
  readonly declaration: string;
  readonly governance: string;
  readonly revision: bigint | number;
}

export interface AgentRow {
  readonly agentId: string;
  readonly document: string;
  readonly origin: string;
  readonly legacy: string | null;
  readonly revision: bigint | number;
  readonly updatedAt: Date;
}

export const toolRecord = ({ name, source, available, declaration, governance, revision }: ToolRow): ToolRecord => ({
  name,
  source,
  available,
  declaration: JSON.parse(declaration) as Declaration,
  governance: JSON.parse(governance) as Governance,
  revision: Number(revision),
});

export const agentRecord = ({ agentId, document, origin, legacy, revision, updatedAt }: AgentRow): AgentRecord => ({
  agentId,
  document: JSON.parse(document) as AgentDocument,
  origin: origin as Origin,
  legacy: legacy === null ? null : (JSON.parse(legacy) as JsonObject),
  revision: Number(revision),
  updatedAt: updatedAt.toISOString(),
});

export const loadingCategory = ({ source, key, label, whenToUse, sort }: LoadingCategory): LoadingCategory => ({ source, key, label, whenToUse, sort });

/** Settings are stored as they are set; what was never set has its default. */
export const settingsOf = (stored: string): Settings => ({ ...DEFAULT_SETTINGS, ...(JSON.parse(stored) as Partial<Settings>) });
