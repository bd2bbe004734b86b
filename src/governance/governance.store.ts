import type { AgentRecord } from '../core/agent-document.js';
import type { Governance, LoadingCategory, ToolRecord } from '../core/catalog.js';
import type { Touched } from '../core/changes.js';
import { KIND_OF, touchedBy } from '../core/changes.js';
import type { DeclaredTool, HistoryEntry } from '../core/history.js';
import { unique } from '../core/json.js';
import type { Settings } from '../core/settings.js';
import type { SyncPlan } from '../core/sync-plan.js';
import type { Author } from '../platform/author.js';
import type { TenantId } from '../platform/tenant-id.js';
import { RecordingUnit } from './recording-unit.js';

export interface StoredSettings {
  readonly settings: Settings;
  /** The revision at which they last changed. */
  readonly revision: number;
}

export interface Catalog {
  readonly tools: readonly ToolRecord[];
  readonly categories: readonly LoadingCategory[];
}

export type SyncToSave = Pick<SyncPlan, 'declarations' | 'missing' | 'categories'>;

/** What takes a sync back. The overrides of a tool that is there stay; those of one that comes back may be named. */
export interface Restoration {
  readonly put: readonly DeclaredTool[];
  /** Names that are registered no longer. */
  readonly remove: readonly string[];
  /** The source's categories afterwards, or null when they stay as they are. */
  readonly categories: readonly LoadingCategory[] | null;
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
  catalog(): Promise<Catalog>;
  /** Those of the names that are registered. */
  tools(names: readonly string[]): Promise<readonly ToolRecord[]>;
  findTool(name: string): Promise<ToolRecord | null>;
  findAgent(agentId: string): Promise<AgentRecord | null>;
  /** Those of the ids that exist. */
  existingAgents(agentIds: readonly string[]): Promise<ReadonlySet<string>>;
  countAgents(): Promise<number>;

  saveSync(source: string, plan: SyncToSave): Promise<void>;
  restoreSync(source: string, restoration: Restoration): Promise<void>;
  saveGovernance(name: string, governance: Governance): Promise<void>;
  deleteTool(name: string): Promise<void>;
  /** As it was, overrides included, whether or not there is one now. */
  restoreTool(tool: Omit<ToolRecord, 'revision'>): Promise<void>;
  saveAgent(agent: AgentToSave): Promise<AgentRecord>;
  deleteAgent(agentId: string): Promise<void>;
  saveSettings(settings: Settings): Promise<void>;
}

/** An entry of history, timed by whoever keeps it. */
export type EntryToKeep = Omit<HistoryEntry, 'at'>;

/** Where a write's history goes, in the transaction of the write. Nothing takes an entry out again. */
export interface Journal {
  append(entry: EntryToKeep): Promise<void>;
}

export interface Committed<T> {
  readonly result: T;
  /** The tenant's revision after the commit. */
  readonly revision: number;
}

/** Told after a write has committed and before its caller hears of it. */
export type CommitListener = (commit: Commit) => void;

/** What one call of {@link GovernanceStore.write} committed. */
export interface Commit {
  readonly tenant: TenantId;
  /** The tenant's revision after it. */
  readonly revision: number;
  /** Once for each kind. */
  readonly touched: readonly Touched[];
}

/**
 * Every governance write of a tenant, one after another.
 *
 * INVARIANT (revision): the writes of `work` and their revisions commit together or not at all; revisions rise by one a
 * write, none is skipped and none is repeated.
 *
 * INVARIANT (history): each revision has exactly one entry, which commits with its write and is never changed after.
 */
export abstract class GovernanceStore {
  private readonly listeners: CommitListener[] = [];
  private readonly turns = new Map<TenantId, Promise<unknown>>();

  onCommit(listener: CommitListener): void {
    this.listeners.push(listener);
  }

  /** Runs `work` under the tenant's write lock. What it throws undoes its writes. A tenant that is gone is `TENANT_NOT_FOUND`. */
  async write<T>(by: Author, work: (unit: GovernanceUnit) => Promise<T>): Promise<Committed<T>> {
    return this.inTurn(by.tenant, async () => {
      const noted: Noted = new Map();
      const committed = await this.transact(by.tenant, (unit, journal) => work(new RecordingUnit(unit, noting(journal, noted), by)), () => touchedIn(noted));
      const commit = { tenant: by.tenant, revision: committed.revision, touched: touchedIn(noted) };
      if (noted.size > 0) for (const listener of this.listeners) listener(commit);
      return committed;
    });
  }

  /** A tenant's writes follow one another anyway: those of this process wait here, not each with a connection that other tenants need. */
  private inTurn<T>(tenant: TenantId, write: () => Promise<T>): Promise<T> {
    const turn = (this.turns.get(tenant) ?? Promise.resolve()).then(write);
    const ended: Promise<unknown> = turn.catch(() => undefined).finally(() => {
      if (this.turns.get(tenant) === ended) this.turns.delete(tenant);
    });
    this.turns.set(tenant, ended);
    return turn;
  }

  /** The unit of `work` notes nothing by itself. What it has touched can be asked for once it has ended, to be told with the commit. */
  protected abstract transact<T>(tenant: TenantId, work: (unit: GovernanceUnit, journal: Journal) => Promise<T>, touched: () => readonly Touched[]): Promise<Committed<T>>;
}

type Noted = Map<Touched['kind'], Touched['ids'][]>;

/** A journal that also notes what is written about. */
const noting = (journal: Journal, noted: Noted): Journal => ({
  append: async (entry) => {
    await journal.append(entry);
    const kind = KIND_OF[entry.entity];
    const ids = touchedBy(entry as HistoryEntry);
    const lists = noted.get(kind);
    if (lists === undefined) noted.set(kind, [ids]);
    else lists.push(ids);
  },
});

const touchedIn = (noted: Noted): Touched[] => [...noted].map(([kind, lists]) => ({ kind, ids: unique(lists.flat()) }));
