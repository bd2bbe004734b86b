import type { AgentRecord } from '../core/agent-document.js';
import type { Governance, ToolRecord } from '../core/catalog.js';
import type { Action, Change, DeclaredTool } from '../core/history.js';
import { agentState, categoriesOf, declaredTool, overridesState, toolState } from '../core/history.js';
import { byText } from '../core/json.js';
import type { Settings } from '../core/settings.js';
import type { Author } from '../platform/author.js';
import type { AgentToSave, Catalog, GovernanceUnit, Journal, Restoration, StoredSettings, SyncToSave } from './governance.store.js';

/** A unit that notes every write in the journal, so that no writer can forget to. What it needs of before it mostly has: writers read first. */
export class RecordingUnit implements GovernanceUnit {
  /** What was read last and has not been written since. */
  private lastAgent: AgentRecord | null = null;
  private lastTool: ToolRecord | null = null;
  private lastCatalog: Catalog | null = null;

  constructor(
    private readonly unit: GovernanceUnit,
    private readonly journal: Journal,
    private readonly by: Author,
  ) {}

  get revision(): number {
    return this.unit.revision;
  }

  settings(): StoredSettings {
    return this.unit.settings();
  }

  async catalog(): Promise<Catalog> {
    this.lastCatalog ??= await this.unit.catalog();
    return this.lastCatalog;
  }

  tools(names: readonly string[]): Promise<readonly ToolRecord[]> {
    return this.unit.tools(names);
  }

  async findTool(name: string): Promise<ToolRecord | null> {
    if (this.lastTool?.name !== name) this.lastTool = await this.unit.findTool(name);
    return this.lastTool;
  }

  async findAgent(agentId: string): Promise<AgentRecord | null> {
    if (this.lastAgent?.agentId !== agentId) this.lastAgent = await this.unit.findAgent(agentId);
    return this.lastAgent;
  }

  existingAgents(agentIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.unit.existingAgents(agentIds);
  }

  countAgents(): Promise<number> {
    return this.unit.countAgents();
  }

  async saveSync(source: string, plan: SyncToSave): Promise<void> {
    const { declarations, missing, categories } = plan;
    const declared = await this.registered(missing);
    const put = [
      ...declarations.map((declaration) => declaredTool({ name: declaration.name, available: true, declaration })),
      ...declared.map((tool) => declaredTool({ ...tool, available: false })),
    ];
    await this.aroundSync(source, { put, remove: [], categories }, () => this.unit.saveSync(source, plan));
  }

  async restoreSync(source: string, restoration: Restoration): Promise<void> {
    await this.aroundSync(source, restoration, () => this.unit.restoreSync(source, restoration));
  }

  async saveGovernance(name: string, governance: Governance): Promise<void> {
    const before = await this.getTool(name);
    await this.unit.saveGovernance(name, governance);
    await this.note({ entity: 'tool', id: name, before: overridesState(before), after: overridesState({ ...before, governance }) }, 'update');
  }

  async deleteTool(name: string): Promise<void> {
    const before = await this.getTool(name);
    await this.unit.deleteTool(name);
    await this.note({ entity: 'tool', id: name, before: toolState(before), after: null }, 'delete');
  }

  async restoreTool(tool: Omit<ToolRecord, 'revision'>): Promise<void> {
    const before = await this.findTool(tool.name);
    await this.unit.restoreTool(tool);
    await this.note({ entity: 'tool', id: tool.name, before: before && toolState(before), after: toolState(tool) }, before === null ? 'create' : 'update');
  }

  async saveAgent(agent: AgentToSave): Promise<AgentRecord> {
    const before = await this.findAgent(agent.agentId);
    const saved = await this.unit.saveAgent(agent);
    await this.note({ entity: 'agent', id: agent.agentId, before: before && agentState(before), after: agentState(agent) }, before === null ? 'create' : 'update');
    return saved;
  }

  async deleteAgent(agentId: string): Promise<void> {
    const before = await this.findAgent(agentId);
    await this.unit.deleteAgent(agentId);
    await this.note({ entity: 'agent', id: agentId, before: before && agentState(before), after: null }, 'delete');
  }

  async saveSettings(settings: Settings): Promise<void> {
    const { settings: before } = this.unit.settings();
    await this.unit.saveSettings(settings);
    await this.note({ entity: 'settings', id: 'settings', before, after: settings }, 'update');
  }

  private async aroundSync(source: string, { put, remove, categories }: Restoration, write: () => Promise<void>): Promise<void> {
    const gone = new Set(remove);
    const touched = await this.registered([...put.map(({ name }) => name), ...remove]);
    const before = {
      tools: touched.map((tool): DeclaredTool => ({ ...declaredTool(tool), ...(gone.has(tool.name) && { governance: tool.governance }) })),
      categories: categories && categoriesOf(source, (await this.catalog()).categories),
    };
    const after = { tools: [...put].sort((a, b) => byText(a.name, b.name)), categories: categories && categoriesOf(source, categories) };
    await write();
    await this.note({ entity: 'sync', id: source, before, after }, 'sync');
  }

  /** Those of the names that are registered, by name. */
  private async registered(names: readonly string[]): Promise<ToolRecord[]> {
    const wanted = new Set(names);
    return (await this.catalog()).tools.filter(({ name }) => wanted.has(name)).sort((a, b) => byText(a.name, b.name));
  }

  private async getTool(name: string): Promise<ToolRecord> {
    const tool = await this.findTool(name);
    if (tool === null) throw new Error(`a write to the tool ${name}, which is not there`);
    return tool;
  }

  private async note(change: Change, action: Action): Promise<void> {
    this.lastAgent = null;
    this.lastTool = null;
    this.lastCatalog = null;
    const { actor, requestId, reverts } = this.by;
    await this.journal.append({ ...change, action: reverts === null ? action : 'revert', revision: this.unit.revision, actor, requestId, reverts });
  }
}
