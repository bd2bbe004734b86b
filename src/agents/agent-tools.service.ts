import { Inject, Injectable } from '@nestjs/common';
import type { AgentRecord } from '../core/agent-document.js';
import type { ToolState } from '../core/agent-state.js';
import { stateOf } from '../core/agent-state.js';
import type { BulkAction } from '../core/bulk-actions.js';
import { applyBulkAction } from '../core/bulk-actions.js';
import { catalogTool, isInternal } from '../core/catalog.js';
import type { EditorFilter, EditorView } from '../core/editor-view.js';
import { editorView } from '../core/editor-view.js';
import { agentSubject } from '../core/pipeline.js';
import { policyAgent } from '../core/policy-view.js';
import type { Language } from '../core/reason.js';
import { switchTool } from '../core/switch.js';
import type { Committed, GovernanceUnit } from '../governance/governance.store.js';
import { GovernanceStore } from '../governance/governance.store.js';
import type { Author } from '../platform/author.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { AppError, agentNotFound, toolNotFound } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyViews } from '../policy/policy-views.js';
import type { Saved } from './agent-writer.js';
import { plainly, requireWithinLimits, saveNative } from './agent-writer.js';

export interface SwitchedTool extends Saved {
  /** Null for a name that is not registered. */
  readonly state: ToolState | null;
}

/** The editor's page, and what is done there. Each change is one write under the tenant's lock: of many at once none is lost. */
@Injectable()
export class AgentToolsService {
  constructor(
    private readonly governance: GovernanceStore,
    private readonly views: PolicyViews,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  async editor(tenant: TenantId, agentId: string, filter: EditorFilter, language: Language): Promise<EditorView> {
    const view = await this.views.fresh(tenant);
    const agent = view.agents.get(agentId);
    if (agent === undefined) throw agentNotFound(agentId);
    return editorView(view, agent, filter, language);
  }

  switch(by: Author, agentId: string, name: string, on: boolean, language: Language): Promise<Committed<SwitchedTool>> {
    return this.governance.write(by, async (unit) => {
      const before = await find(unit, agentId);
      const record = await unit.findTool(name);
      const tool = record && catalogTool(record);
      const subject = agentSubject(await unit.existingAgents(before.document.subagentConfig.allowedPresetAgentIds), policyAgent(before));
      const switched = switchTool(name, tool, subject, on);
      if (switched === 'unknown') throw toolNotFound(name);
      if ('lock' in switched) throw new AppError(switched.lock.reason, `\`${name}\`: ${switched.lock.words[language]}`);
      const input = { ...before.document, tools: switched.tools };
      // Closing a tool is never refused for want of room: it adds the name of one registered tool at the most.
      if (on) requireWithinLimits(input, this.limits);
      const saved = await saveNative(unit, { agentId, before, input, options: plainly(unit) });
      const after = { ...subject, agent: policyAgent(saved.record ?? before) };
      return { ...saved, state: tool === null || isInternal(tool) ? null : stateOf(tool, after) };
    });
  }

  act(by: Author, agentId: string, action: BulkAction): Promise<Committed<Saved>> {
    return this.governance.write(by, async (unit) => {
      const before = await find(unit, agentId);
      const { document: { tools, ...rest } } = before;
      const records = await unit.tools([...tools.enabled, ...tools.disabled]);
      const core = new Set(records.filter((record) => catalogTool(record).effective.isCore).map(({ name }) => name));
      const input = { ...rest, tools: applyBulkAction(action, tools, (name) => core.has(name)) };
      return saveNative(unit, { agentId, before, input, options: plainly(unit) });
    });
  }
}

async function find(unit: GovernanceUnit, agentId: string): Promise<AgentRecord> {
  const agent = await unit.findAgent(agentId);
  if (agent === null) throw agentNotFound(agentId);
  return agent;
}
