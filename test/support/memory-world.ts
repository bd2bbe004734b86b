import { randomUUID } from 'node:crypto';
import type { AgentRecord } from '../../src/core/agent-document.js';
import type { Governance, LoadingCategory, ToolRecord } from '../../src/core/catalog.js';
import type { DeclaredTool, HistoryEntry } from '../../src/core/history.js';
import { declaredTool } from '../../src/core/history.js';
import type { PolicyDelta, PolicyPoint } from '../../src/core/policy-view.js';
import type { Settings } from '../../src/core/settings.js';
import { DEFAULT_SETTINGS } from '../../src/core/settings.js';
import type { AgentToSave, Committed, EntryToKeep, GovernanceUnit, Journal, Restoration, StoredSettings, SyncToSave } from '../../src/governance/governance.store.js';
import { GovernanceStore } from '../../src/governance/governance.store.js';
import { AppError } from '../../src/platform/errors/app-error.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import { PolicyLoader } from '../../src/policy/policy.loader.js';
import type { KeyRecord } from '../../src/tenancy/key.store.js';
import { KeyStore } from '../../src/tenancy/key.store.js';
import type { TenantRecord } from '../../src/tenancy/tenant.store.js';
import { TenantStore } from '../../src/tenancy/tenant.store.js';
import type { KeptConversation } from './memory-conversation.store.js';
import { MemoryChangeStore } from './memory-change.store.js';
import { MemoryConversationStore } from './memory-conversation.store.js';
import { MemoryHistoryStore } from './memory-history.store.js';
import { MemoryRevisionLoader } from './memory-revision.loader.js';

/** One tenant's rows. Every record is immutable, so a copy of the maps is a snapshot. */
interface TenantState {
  readonly incarnation: string;
  readonly name: string;
  readonly createdAt: Date;
  revision: number;
  deletedRevision: number;
  settings: StoredSettings;
  tools: Map<string, ToolRecord>;
  categories: LoadingCategory[];
  agents: Map<string, AgentRecord>;
  keys: Map<string, KeyRecord>;
  history: HistoryEntry[];
  /** Not governance: one map for all copies. */
  readonly conversations: Map<string, KeptConversation>;
}

const copyOf = (state: TenantState): TenantState => ({
  ...state,
  tools: new Map(state.tools),
  agents: new Map(state.agents),
  keys: new Map(state.keys),
  history: [...state.history],
});

/** Stored JSON comes back as other objects, as it does from a database. */
const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const byName = <T>(rows: Map<string, T>): [string, T][] => [...rows].sort(([a], [b]) => (a < b ? -1 : 1));

/** What the in-memory twins of all ports share: the stand-in for the database. */
export class MemoryWorld {
  readonly tenants = new Map<TenantId, TenantState>();
  readonly governance = new MemoryGovernanceStore(this);
  readonly policy = new MemoryPolicyLoader(this);
  readonly tenantStore = new MemoryTenantStore(this);
  readonly keyStore = new MemoryKeyStore(this);
  readonly conversations = new MemoryConversationStore(this);
  readonly history = new MemoryHistoryStore(this);
  readonly changes = new MemoryChangeStore(this);
  readonly revisions = new MemoryRevisionLoader(this);

  of(tenant: TenantId): TenantState {
    const state = this.tenants.get(tenant);
    if (state === undefined) throw new AppError('TENANT_NOT_FOUND', 'there is no such tenant');
    return state;
  }
}

class MemoryGovernanceStore extends GovernanceStore {
  private readonly queues = new Map<TenantId, Promise<unknown>>();

  constructor(private readonly world: MemoryWorld) {
    super();
  }

  protected override async transact<T>(tenant: TenantId, work: (unit: GovernanceUnit, journal: Journal) => Promise<T>): Promise<Committed<T>> {
    const before = this.queues.get(tenant) ?? Promise.resolve();
    const run = before.then(async () => {
      const state = copyOf(this.world.of(tenant));
      const result = await work(new MemoryGovernanceUnit(state), new MemoryJournal(state));
      if (this.world.tenants.has(tenant)) this.world.tenants.set(tenant, state);
      for (const [id, { conversation }] of state.conversations) if (!state.agents.has(conversation.agentId)) state.conversations.delete(id);
      return { result, revision: state.revision };
    });
    this.queues.set(tenant, run.catch(() => undefined));
    return run;
  }
}

class MemoryJournal implements Journal {
  constructor(private readonly state: TenantState) {}

  async append(entry: EntryToKeep): Promise<void> {
    this.state.history.push(stored({ ...entry, at: new Date().toISOString() }) as HistoryEntry);
  }
}

class MemoryGovernanceUnit implements GovernanceUnit {
  constructor(private readonly state: TenantState) {}

  get revision(): number {
    return this.state.revision;
  }

  settings(): StoredSettings {
    return this.state.settings;
  }

  async catalog(): Promise<{ tools: ToolRecord[]; categories: LoadingCategory[] }> {
    return { tools: [...this.state.tools.values()], categories: this.state.categories };
  }

  async tools(names: readonly string[]): Promise<ToolRecord[]> {
    return names.flatMap((name) => this.state.tools.get(name) ?? []);
  }

  async findTool(name: string): Promise<ToolRecord | null> {
    return this.state.tools.get(name) ?? null;
  }

  async findAgent(agentId: string): Promise<AgentRecord | null> {
    return this.state.agents.get(agentId) ?? null;
  }

  async existingAgents(agentIds: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(agentIds.filter((agentId) => this.state.agents.has(agentId)));
  }

  async countAgents(): Promise<number> {
    return this.state.agents.size;
  }

  async saveSync(source: string, { declarations, missing, categories }: SyncToSave): Promise<void> {
    const revision = this.next();
    this.putTools(source, declarations.map((declaration) => declaredTool({ name: declaration.name, available: true, declaration })));
    for (const name of missing) this.change(name, { available: false, revision });
    if (categories !== null) this.state.categories = [...this.state.categories.filter((category) => category.source !== source), ...categories];
  }

  async restoreSync(source: string, { put, remove, categories }: Restoration): Promise<void> {
    const revision = this.next();
    this.putTools(source, put);
    for (const name of remove) {
      this.state.tools.delete(name);
      this.state.deletedRevision = revision;
    }
    if (categories !== null) this.state.categories = [...this.state.categories.filter((category) => category.source !== source), ...categories];
  }

  async restoreTool({ source, ...tool }: Omit<ToolRecord, 'revision'>): Promise<void> {
    this.next();
    this.putTools(source, [{ ...declaredTool(tool), governance: tool.governance }]);
  }

  private putTools(source: string, tools: readonly DeclaredTool[]): void {
    for (const { name, availability, declaration, governance = this.state.tools.get(name)?.governance ?? {} } of tools) {
      this.state.tools.set(name, { name, source, available: availability === 'available', declaration: stored(declaration), governance: stored(governance), revision: this.revision });
    }
  }

  async saveGovernance(name: string, governance: Governance): Promise<void> {
    this.change(name, { governance: stored(governance), revision: this.next() });
  }

  async deleteTool(name: string): Promise<void> {
    this.state.tools.delete(name);
    this.state.deletedRevision = this.next();
  }

  async saveAgent(agent: AgentToSave): Promise<AgentRecord> {
    const record = { ...stored(agent), revision: this.next(), updatedAt: new Date().toISOString() };
    this.state.agents.set(agent.agentId, record);
    return record;
  }

  async deleteAgent(agentId: string): Promise<void> {
    this.state.agents.delete(agentId);
    this.state.deletedRevision = this.next();
  }

  async saveSettings(settings: Settings): Promise<void> {
    this.state.settings = { settings: stored(settings), revision: this.next() };
  }

  private change(name: string, part: Partial<ToolRecord>): void {
    const tool = this.state.tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    this.state.tools.set(name, { ...tool, ...part });
  }

  private next(): number {
    this.state.revision += 1;
    return this.state.revision;
  }
}

class MemoryPolicyLoader extends PolicyLoader {
  constructor(private readonly world: MemoryWorld) {
    super();
  }

  override async load(tenant: TenantId, since: PolicyPoint | null): Promise<PolicyDelta | 'unchanged' | null> {
    const state = this.world.tenants.get(tenant);
    if (state === undefined) return null;
    const known = since?.incarnation === state.incarnation ? since.revision : null;
    if (known === state.revision) return 'unchanged';
    const complete = known === null || state.revision < known || state.deletedRevision > known;
    const isNew = ({ revision }: { revision: number }): boolean => complete || revision > known;
    return {
      incarnation: state.incarnation,
      revision: state.revision,
      settings: state.settings.settings,
      settingsRevision: state.settings.revision,
      complete,
      tools: [...state.tools.values()].filter(isNew),
      categories: state.categories,
      agents: [...state.agents.values()].filter(isNew),
    };
  }
}

class MemoryTenantStore extends TenantStore {
  constructor(private readonly world: MemoryWorld) {
    super();
  }

  override async create(tenantId: TenantId, name: string): Promise<TenantRecord | null> {
    if (this.world.tenants.has(tenantId)) return null;
    const createdAt = new Date();
    this.world.tenants.set(tenantId, {
      incarnation: randomUUID(), name, createdAt, revision: 0, deletedRevision: 0, settings: { settings: DEFAULT_SETTINGS, revision: 0 },
      tools: new Map(), categories: [], agents: new Map(), keys: new Map(), history: [], conversations: new Map(),
    });
    return { tenantId, name, createdAt };
  }

  override async exists(tenantId: TenantId): Promise<boolean> {
    return this.world.tenants.has(tenantId);
  }

  override async list(after: string | null, limit: number): Promise<readonly TenantRecord[]> {
    const rows = byName(this.world.tenants as Map<string, TenantState>).filter(([id]) => after === null || id > after);
    return rows.slice(0, limit).map(([id, { name, createdAt }]) => ({ tenantId: id as TenantId, name, createdAt }));
  }

  override async delete(tenantId: TenantId): Promise<boolean> {
    return this.world.tenants.delete(tenantId);
  }
}

class MemoryKeyStore extends KeyStore {
  constructor(private readonly world: MemoryWorld) {
    super();
  }

  override async create(tenant: TenantId, key: Omit<KeyRecord, 'createdAt'>): Promise<KeyRecord> {
    const record = { ...key, createdAt: new Date() };
    this.world.of(tenant).keys.set(key.keyId, record);
    return record;
  }

  override async find(tenant: TenantId, keyId: string): Promise<KeyRecord | null> {
    return this.world.tenants.get(tenant)?.keys.get(keyId) ?? null;
  }

  override async findMany(tenant: TenantId, keyIds: readonly string[]): Promise<readonly KeyRecord[]> {
    return keyIds.flatMap((keyId) => this.world.tenants.get(tenant)?.keys.get(keyId) ?? []);
  }

  override async list(tenant: TenantId, after: string | null, limit: number): Promise<readonly KeyRecord[]> {
    return byName(this.world.of(tenant).keys).filter(([id]) => after === null || id > after).slice(0, limit).map(([, key]) => key);
  }

  override async delete(tenant: TenantId, keyId: string): Promise<boolean> {
    return this.world.tenants.get(tenant)?.keys.delete(keyId) ?? false;
  }
}
