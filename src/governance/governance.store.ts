import type { AgentRecord } from '../core/agent-document.js';
import type { Governance, LoadingCategory, ToolRecord } from '../core/catalog.js';
import type { Settings } from '../core/settings.js';
import type { SyncPlan } from '../core/sync-plan.js';
import type { TenantId } from '../platform/tenant-id.js';

export interface StoredSettings {
  readonly settings: Settings;
  /** The revision at which they last changed. */
  readonly revision: number;
}

export type AgentToSave = Pick<AgentRecord, 'agentId' | 'document' | 'origin' | 'legacy'>;

/**
 * One tenant's governance while its write lock is held: what is read is current and stays so until the end.
 * Each writing call is one write and takes the next revision; a call that is not made bumps nothing.
 */
export interface GovernanceUnit {
  /** The tenant's revision, with this unit's own writes so far. */
  readonly revision: number;
  settings(): StoredSettings;
  /** The whole catalog, in no particular order. */
  catalog(): Promise<{ readonly tools: readonly ToolRecord[]; readonly categories: readonly LoadingCategory[] }>;
  /** Those of the names that are registered. */
  tools(names: readonly string[]): Promise<readonly ToolRecord[]>;
  findTool(name: string): Promise<ToolRecord | null>;
  findAgent(agentId: string): Promise<AgentRecord | null>;
  /** Those of the ids that exist. */
  existingAgents(agentIds: readonly string[]): Promise<ReadonlySet<string>>;
  countAgents(): Promise<number>;

  saveSync(source: string, plan: Pick<SyncPlan, 'declarations' | 'missing' | 'categories'>): Promise<void>;
  saveGovernance(name: string, governance: Governance): Promise<void>;
  deleteTool(name: string): Promise<void>;
  saveAgent(agent: AgentToSave): Promise<AgentRecord>;
  deleteAgent(agentId: string): Promise<void>;
  saveSettings(settings: Settings): Promise<void>;
}

export interface Committed<T> {
  readonly result: T;
  /** The tenant's revision after the commit. */
  readonly revision: number;
}

/** Told after a write has committed and before its caller hears of it. */
export type CommitListener = (tenant: TenantId, revision: number) => void;

/**
 * Every governance write of a tenant, one after another.
 *
 * INVARIANT (revision): the writes of `work` and their revisions commit together or not at all; revisions rise by one a
 * write, none is skipped and none is repeated.
 */
export abstract class GovernanceStore {
  private readonly listeners: CommitListener[] = [];

  onCommit(listener: CommitListener): void {
    this.listeners.push(listener);
  }

  /** Runs `work` under the tenant's write lock. What it throws undoes its writes. A tenant that is gone is `TENANT_NOT_FOUND`. */
  async write<T>(tenant: TenantId, work: (unit: GovernanceUnit) => Promise<T>): Promise<Committed<T>> {
    const { changed, ...committed } = await this.transact(tenant, work);
    if (changed) for (const listener of this.listeners) listener(tenant, committed.revision);
    return committed;
  }

  protected abstract transact<T>(tenant: TenantId, work: (unit: GovernanceUnit) => Promise<T>): Promise<Committed<T> & { readonly changed: boolean }>;
}
