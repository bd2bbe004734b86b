import type { AgentRecord } from '../core/agent-document.js';
import type { Governance, LoadingCategory, ToolRecord } from '../core/catalog.js';
import type { Touched } from '../core/changes.js';
import { touchedBy } from '../core/changes.js';
import type { Change, DeclaredTool } from '../core/history.js';
import { declaredTool } from '../core/history.js';
import type { Settings } from '../core/settings.js';
import { announcementOf } from '../platform/announcement.js';
import { announce } from '../platform/database/announce.js';
import type { Database, Transaction } from '../platform/database/database.js';
import { tenantNotFound } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { AgentToSave, Catalog, Committed, EntryToKeep, GovernanceUnit, Journal, Restoration, StoredSettings, SyncToSave } from './governance.store.js';
import { GovernanceStore } from './governance.store.js';
import { agentRecord, loadingCategory, settingsOf, toolRecord } from './record-mapper.js';

interface TenantRow {
  readonly revision: bigint;
  readonly settings: string;
  readonly settings_revision: bigint;
}

/** The lock is the tenant's own row: writers queue there, readers pass. */
export class PrismaGovernanceStore extends GovernanceStore {
  constructor(private readonly database: Database) {
    super();
  }

  protected override transact<T>(tenant: TenantId, work: (unit: GovernanceUnit, journal: Journal) => Promise<T>, touched: () => readonly Touched[]): Promise<Committed<T>> {
    return this.database.inTenant(tenant, async (tx) => {
      const [row] = await tx.$queryRaw<TenantRow[]>`SELECT revision, settings, settings_revision FROM tenants WHERE id = ${tenant} FOR UPDATE`;
      if (row === undefined) throw tenantNotFound();
      const unit = new PrismaGovernanceUnit(tx, tenant, row);
      const journal = new PrismaJournal(tx, tenant);
      const result = await work(unit, journal);
      await unit.bump();
      await journal.flush();
      for (const { kind, ids } of touched()) await announce(tx, announcementOf(tenant, kind, unit.revision, ids));
      return { result, revision: unit.revision };
    });
  }
}

class PrismaGovernanceUnit implements GovernanceUnit {
  revision: number;
  private readonly before: number;
  private deletedRevision: number | null = null;
  private newSettings: StoredSettings | null = null;

  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: TenantId,
    private readonly row: TenantRow,
  ) {
    this.before = Number(row.revision);
    this.revision = this.before;
  }

  private get changed(): boolean {
    return this.revision !== this.before;
  }

  settings(): StoredSettings {
    return this.newSettings ?? { settings: settingsOf(this.row.settings), revision: Number(this.row.settings_revision) };
  }

  async catalog(): Promise<Catalog> {
    const { tenantId } = this;
    const tools = await this.tx.tool.findMany({ where: { tenantId } });
    const categories = await this.tx.loadingCategory.findMany({ where: { tenantId } });
    return { tools: tools.map(toolRecord), categories: categories.map(loadingCategory) };
  }

  async tools(names: readonly string[]): Promise<ToolRecord[]> {
    if (names.length === 0) return [];
    return (await this.tx.tool.findMany({ where: { tenantId: this.tenantId, name: { in: [...names] } } })).map(toolRecord);
  }

  async findTool(name: string): Promise<ToolRecord | null> {
    return (await this.tools([name]))[0] ?? null;
  }

  async findAgent(agentId: string): Promise<AgentRecord | null> {
    const row = await this.tx.agent.findUnique({ where: { tenantId_agentId: { tenantId: this.tenantId, agentId } } });
    return row && agentRecord(row);
  }

  async existingAgents(agentIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (agentIds.length === 0) return new Set();
    const rows = await this.tx.agent.findMany({ where: { tenantId: this.tenantId, agentId: { in: [...agentIds] } }, select: { agentId: true } });
    return new Set(rows.map(({ agentId }) => agentId));
  }

  countAgents(): Promise<number> {
    return this.tx.agent.count({ where: { tenantId: this.tenantId } });
  }

  async saveSync(source: string, { declarations, missing, categories }: SyncToSave): Promise<void> {
    this.next();
    await this.putTools(source, declarations.map((declaration) => declaredTool({ name: declaration.name, available: true, declaration })));
    if (missing.length > 0) {
      const names = [...missing];
      await this.tx.$executeRaw`UPDATE tools SET available = false, revision = ${this.revision} WHERE tenant_id = ${this.tenantId} AND name = ANY (${names}::text[])`;
    }
    await this.replaceCategories(source, categories);
  }

  async restoreSync(source: string, { put, remove, categories }: Restoration): Promise<void> {
    this.next();
    await this.putTools(source, put);
    if (remove.length > 0) {
      await this.tx.tool.deleteMany({ where: { tenantId: this.tenantId, name: { in: [...remove] } } });
      this.deletedRevision = this.revision;
    }
    await this.replaceCategories(source, categories);
  }

  async restoreTool({ source, ...tool }: Omit<ToolRecord, 'revision'>): Promise<void> {
    this.next();
    await this.putTools(source, [{ ...declaredTool(tool), governance: tool.governance }]);
  }

  /** One statement, however many tools. The overrides of one that is there stay unless others are given. */
  private async putTools(source: string, tools: readonly DeclaredTool[]): Promise<void> {
    if (tools.length === 0) return;
    const names = tools.map(({ name }) => name);
    const available = tools.map(({ availability }) => availability === 'available');
    const declarations = tools.map(({ declaration }) => JSON.stringify(declaration));
    const overrides = tools.map(({ governance }) => (governance === undefined ? '' : JSON.stringify(governance)));
    await this.tx.$executeRaw`
      INSERT INTO tools (tenant_id, name, source, available, declaration, governance, revision)
      SELECT ${this.tenantId}, entry.name, ${source}, entry.available, entry.declaration, coalesce(nullif(entry.overrides, ''), kept.governance, '{}'), ${this.revision}
      FROM unnest(${names}::text[], ${available}::boolean[], ${declarations}::text[], ${overrides}::text[]) AS entry (name, available, declaration, overrides)
      LEFT JOIN tools AS kept ON kept.tenant_id = ${this.tenantId} AND kept.name = entry.name
      ON CONFLICT (tenant_id, name) DO UPDATE
        SET available = excluded.available, declaration = excluded.declaration, governance = excluded.governance, revision = excluded.revision`;
  }

  private async replaceCategories(source: string, categories: readonly LoadingCategory[] | null): Promise<void> {
    if (categories === null) return;
    await this.tx.loadingCategory.deleteMany({ where: { tenantId: this.tenantId, source } });
    await this.tx.loadingCategory.createMany({ data: categories.map((category) => ({ ...category, source, tenantId: this.tenantId })) });
  }

  async saveGovernance(name: string, governance: Governance): Promise<void> {
    const where = { tenantId_name: { tenantId: this.tenantId, name } };
    await this.tx.tool.update({ where, data: { governance: JSON.stringify(governance), revision: this.next() } });
  }

  async deleteTool(name: string): Promise<void> {
    await this.tx.tool.delete({ where: { tenantId_name: { tenantId: this.tenantId, name } } });
    this.deletedRevision = this.next();
  }

  async saveAgent({ agentId, document, origin, legacy }: AgentToSave): Promise<AgentRecord> {
    const data = { document: JSON.stringify(document), origin, legacy: legacy && JSON.stringify(legacy), revision: this.next(), updatedAt: new Date() };
    const { tenantId } = this;
    return agentRecord(await this.tx.agent.upsert({ where: { tenantId_agentId: { tenantId, agentId } }, create: { tenantId, agentId, ...data }, update: data }));
  }

  async deleteAgent(agentId: string): Promise<void> {
    await this.tx.agent.delete({ where: { tenantId_agentId: { tenantId: this.tenantId, agentId } } });
    this.deletedRevision = this.next();
  }

  async saveSettings(settings: Settings): Promise<void> {
    this.newSettings = { settings, revision: this.next() };
    await this.tx.tenant.update({ where: { id: this.tenantId }, data: { settings: JSON.stringify(settings), settingsRevision: this.revision }, select: { id: true } });
  }

  private next(): number {
    this.revision += 1;
    return this.revision;
  }

  /** Part of the same transaction: a bump that fails takes the writes with it. */
  async bump(): Promise<void> {
    if (!this.changed) return;
    const deleted = this.deletedRevision === null ? {} : { deletedRevision: this.deletedRevision };
    await this.tx.tenant.update({ where: { id: this.tenantId }, data: { revision: this.revision, ...deleted }, select: { id: true } });
  }
}

/** So much is held back before it is written: an import of ten thousand agents is some statements, and never held as a whole. */
const HELD_CHARS = 1 << 20;
/** A statement takes 65,535 values at the most. */
const HELD_ROWS = 1_000;

class PrismaJournal implements Journal {
  private held: ReturnType<PrismaJournal['rowOf']>[] = [];
  private chars = 0;

  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: TenantId,
  ) {}

  async append(entry: EntryToKeep): Promise<void> {
    const row = this.rowOf(entry);
    this.held.push(row);
    this.chars += (row.before?.length ?? 0) + (row.after?.length ?? 0);
    if (this.chars > HELD_CHARS || this.held.length >= HELD_ROWS) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.held.length === 0) return;
    await this.tx.historyEntry.createMany({ data: this.held });
    this.held = [];
    this.chars = 0;
  }

  private rowOf({ revision, actor, requestId, entity, id, action, reverts, before, after }: EntryToKeep) {
    const text = (state: unknown): string | null => (state === null ? null : JSON.stringify(state));
    const ids = text(touchedBy({ entity, id, before, after } as Change));
    return { tenantId: this.tenantId, revision, keyId: actor.keyId, keyName: actor.name, requestId, entity, entityId: id, action, reverts, before: text(before), after: text(after), ids };
  }
}
