import type { AgentRecord } from '../../src/core/agent-document.js';
import type { LoadingCategory, ToolRecord } from '../../src/core/catalog.js';
import type { DeclaredTool } from '../../src/core/history.js';
import { agentOf, agentState, categoriesOf, declaredTool, isWhole, overridesState, toolState } from '../../src/core/history.js';
import { equalJson } from '../../src/core/json.js';
import type { PolicyDelta, PolicyView } from '../../src/core/policy-view.js';
import { applyDelta } from '../../src/core/policy-view.js';
import type { Settings } from '../../src/core/settings.js';
import { DEFAULT_SETTINGS } from '../../src/core/settings.js';
import type { Entry } from './record.js';

/** The tenant as it was at every revision, made anew from its history alone. */
export class Replay {
  /** Where history contradicts itself. */
  readonly faults: string[] = [];
  private readonly views = new Map<number, PolicyView>();
  private readonly tools = new Map<string, ToolRecord>();
  private readonly agents = new Map<string, AgentRecord>();
  private categories: LoadingCategory[] = [];
  private settings: Settings = DEFAULT_SETTINGS;

  constructor(entries: readonly Entry[]) {
    let view: PolicyView | null = null;
    for (const entry of [...entries].sort((a, b) => a.revision - b.revision)) {
      if (!equalJson(this.standing(entry), entry.before)) this.faults.push(`revision ${entry.revision}: \`before\` of ${entry.entity} ${entry.id} is not what the revisions before it left`);
      view = applyDelta(view, this.apply(entry));
      this.views.set(entry.revision, view);
    }
  }

  at(revision: number): PolicyView | undefined {
    return this.views.get(revision);
  }

  /** What the entry is about as it stands, in the form of its `before`. */
  private standing({ entity, id, before, after }: Entry): unknown {
    switch (entity) {
      case 'agent': {
        const agent = this.agents.get(id);
        return agent === undefined ? null : agentState(agent);
      }
      case 'settings':
        return this.settings;
      case 'tool': {
        const tool = this.tools.get(id);
        if (tool === undefined) return null;
        return before !== null && isWhole(before) ? toolState(tool) : overridesState(tool);
      }
      default:
        return {
          tools: before.tools.map(({ name, governance }: DeclaredTool) => {
            const tool = this.tools.get(name);
            return tool === undefined ? null : { ...declaredTool(tool), ...(governance !== undefined && { governance: tool.governance }) };
          }),
          categories: after.categories === null ? null : categoriesOf(id, this.categories),
        };
    }
  }

  private apply({ revision, entity, id, before, after }: Entry): PolicyDelta {
    const base = { incarnation: 'replayed', revision, settingsRevision: 0 };
    let isDeletion = after === null;
    const tools: ToolRecord[] = [];
    const agents: AgentRecord[] = [];
    if (entity === 'settings') this.settings = after;
    if (entity === 'agent') agents.push(...this.putAgent(id, after, revision));
    if (entity === 'tool') tools.push(...this.putTool(id, after, revision));
    if (entity === 'sync') {
      const kept = new Set(after.tools.map(({ name }: DeclaredTool) => name));
      for (const { name } of before.tools) if (!kept.has(name)) isDeletion = this.tools.delete(name) || isDeletion;
      for (const tool of after.tools) tools.push(this.declare(id, tool, revision));
      if (after.categories !== null) this.categories = [...this.categories.filter(({ source }) => source !== id), ...after.categories.map((category: object) => ({ source: id, ...category }))];
    }
    const { settings, categories } = this;
    if (isDeletion) return { ...base, settings, categories, complete: true, tools: [...this.tools.values()], agents: [...this.agents.values()] };
    return { ...base, settings, categories, complete: false, tools, agents };
  }

  private putAgent(id: string, after: any, revision: number): AgentRecord[] {
    if (after === null) {
      this.agents.delete(id);
      return [];
    }
    const record = { ...agentOf(after), revision, updatedAt: '' };
    this.agents.set(id, record);
    return [record];
  }

  private putTool(name: string, after: any, revision: number): ToolRecord[] {
    const before = this.tools.get(name);
    if (after === null) this.tools.delete(name);
    if (after === null || (before === undefined && !isWhole(after))) return [];
    const { source, governance, ...whole } = after;
    const record = isWhole(after) ? { name, source, governance, declaration: whole.declaration, available: whole.availability === 'available', revision } : { ...(before as ToolRecord), governance, revision };
    this.tools.set(name, record);
    return [record];
  }

  private declare(source: string, { name, availability, declaration, governance }: DeclaredTool, revision: number): ToolRecord {
    const record = { name, source, available: availability === 'available', declaration, governance: governance ?? this.tools.get(name)?.governance ?? {}, revision };
    this.tools.set(name, record);
    return record;
  }
}
