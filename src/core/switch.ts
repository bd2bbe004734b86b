/** One tool turned on or off for one agent, in the smallest document that says so (semantics, section 6). */
import type { AgentTools } from './agent-document.js';
import type { Lock } from './agent-state.js';
import { LOCKED, globalLock, targetLock } from './agent-state.js';
import type { CatalogTool } from './catalog.js';
import { isInternal } from './catalog.js';
import type { AgentSubject } from './pipeline.js';
import { grantStage } from './pipeline.js';

/** The agent's lists afterwards, or why they stay as they are. */
export type Switched = { readonly tools: AgentTools } | { readonly lock: Lock } | 'unknown';

const without = (names: readonly string[], name: string): readonly string[] => names.filter((one) => one !== name);
const withName = (names: readonly string[], name: string): readonly string[] => (names.includes(name) ? names : [...names, name]);

/**
 * `tool` is null for a name that is not registered; an internal one counts as that.
 *
 * INVARIANT (switch): on gives the tool its grant and off takes it away; no other tool is touched; on and off again, or off
 * and on again, comes back to an equivalent document.
 */
export function switchTool(name: string, tool: CatalogTool | null, subject: AgentSubject, on: boolean): Switched {
  const known = tool !== null && !isInternal(tool) ? tool : null;
  return on ? switchOn(known, subject) : switchOff(name, known, subject);
}

function switchOn(tool: CatalogTool | null, subject: AgentSubject): Switched {
  if (tool === null) return 'unknown';
  const lock = globalLock(tool) ?? targetLock(tool, subject);
  if (lock !== null) return { lock };
  const { tools } = subject.agent.record.document;
  const enabled = grantStage(tool, subject) === null ? tools.enabled : withName(tools.enabled, tool.name);
  return { tools: { ...tools, enabled, disabled: without(tools.disabled, tool.name) } };
}

/** A delegate leaves no list: it was never granted by one. */
function switchOff(name: string, tool: CatalogTool | null, { agent, targets }: AgentSubject): Switched {
  const { tools } = agent.record.document;
  if (tool === null) return { tools: { ...tools, enabled: without(tools.enabled, name) } };
  if (tool.locked) return { lock: LOCKED };
  const enabled = tool.effective.role === 'delegate' ? tools.enabled : without(tools.enabled, name);
  const isStillGranted = grantStage(tool, { agent: { ...agent, enabled: new Set(enabled) }, targets }) === null;
  return { tools: { ...tools, enabled, disabled: isStillGranted ? withName(tools.disabled, name) : tools.disabled } };
}
