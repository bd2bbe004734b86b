/** How the editor shows a tool for an agent: from governance and document alone, no runtime context (semantics, section 6). */
import type { CatalogTool } from './catalog.js';
import { agentStage, globalStage, grantStage } from './pipeline.js';
import type { Subject } from './pipeline.js';

export type ToolState = 'globally_disabled' | 'agent_disabled' | 'default_enabled' | 'agent_enabled' | 'not_enabled';

export function stateOf(tool: CatalogTool, subject: Subject): ToolState {
  if (globalStage(tool, subject) !== null) return 'globally_disabled';
  if (grantStage(tool, subject) !== null) return 'not_enabled';
  return agentStage(tool, subject) === null ? grantedState(tool, subject) : 'agent_disabled';
}

/** The state of a tool that is granted and not closed: how it came to the agent. */
export function grantedState({ effective, locked }: CatalogTool, { agent }: Subject): 'default_enabled' | 'agent_enabled' {
  const byDefault = locked || (effective.role !== 'delegate' && effective.isCore && agent.inheritsCore);
  return byDefault ? 'default_enabled' : 'agent_enabled';
}
