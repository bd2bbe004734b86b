/** How the editor shows a tool for an agent: from governance and document alone, no runtime context (semantics, section 6). */
import type { CatalogTool } from './catalog.js';
import { agentStage, globalStage, grantStage } from './pipeline.js';
import type { Subject } from './pipeline.js';

export type ToolState = 'globally_disabled' | 'agent_disabled' | 'default_enabled' | 'agent_enabled' | 'not_enabled';

export function stateOf(tool: CatalogTool, subject: Subject): ToolState {
  if (globalStage(tool, subject) !== null) return 'globally_disabled';
  if (grantStage(tool, subject) !== null) return 'not_enabled';
  if (agentStage(tool, subject) !== null) return 'agent_disabled';
  const { effective, locked } = tool;
  const byDefault = locked || (effective.role !== 'delegate' && effective.isCore && subject.agent.inheritsCore);
  return byDefault ? 'default_enabled' : 'agent_enabled';
}
