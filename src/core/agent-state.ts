/** How a tool stands with an agent: from governance and document alone, no runtime context (semantics, section 6). */
import type { CatalogTool } from './catalog.js';
import { comesByDefault } from './catalog.js';
import type { AgentSubject } from './pipeline.js';
import { agentStage, globalStage, grantStage } from './pipeline.js';
import type { PolicyAgent } from './policy-view.js';
import type { Refusal, Words } from './reason.js';
import { wordsOf } from './reason.js';

/** The states of a tool that an agent has. */
export const GRANTED_STATES = ['default_enabled', 'agent_enabled'] as const;
export type GrantedState = (typeof GRANTED_STATES)[number];

/** Every state, with its label. Where several fit, the first one counts. */
export const STATES = {
  globally_disabled: { en: 'stopped for every agent', zh: '全局停用' },
  agent_disabled: { en: 'closed for this agent', zh: '已为当前 Agent 关闭' },
  default_enabled: { en: 'enabled by default', zh: '默认启用' },
  agent_enabled: { en: 'enabled for this agent', zh: '已为当前 Agent 启用' },
  not_enabled: { en: 'not enabled', zh: '未启用' },
} as const satisfies Record<string, Words>;
export type ToolState = keyof typeof STATES;

/** Of a tool that is granted and not closed. */
export const grantedState = ({ effective }: CatalogTool, { inheritsCore }: PolicyAgent): GrantedState =>
  comesByDefault(effective, inheritsCore) ? 'default_enabled' : 'agent_enabled';

export function stateOf(tool: CatalogTool, subject: AgentSubject): ToolState {
  if (globalStage(tool, subject) !== null) return 'globally_disabled';
  if (grantStage(tool, subject) !== null) return 'not_enabled';
  return agentStage(tool, subject) === null ? grantedState(tool, subject.agent) : 'agent_disabled';
}

export const LOCK_REASONS = ['GLOBALLY_DISABLED', 'LOCKED', 'TARGET_NOT_AVAILABLE'] as const;
export type LockReason = (typeof LOCK_REASONS)[number];

/** Why a switch can not be moved, and what a person is told of it. */
export interface Lock {
  readonly reason: LockReason;
  readonly words: Words;
}

export const LOCKED: Lock = { reason: 'LOCKED', words: { en: 'the tool is a core tool that no agent may close', zh: '该工具为锁定的核心工具，任何 Agent 都不能关闭' } };

const lockBy = (reason: LockReason, refusal: Refusal | null): Lock | null => refusal && { reason, words: wordsOf(refusal) };

export const globalLock = (tool: CatalogTool): Lock | null => lockBy('GLOBALLY_DISABLED', globalStage(tool, null));

/** A delegate is granted by its target alone, which no switch of the tool provides. */
export const targetLock = (tool: CatalogTool, subject: AgentSubject): Lock | null =>
  tool.effective.role === 'delegate' ? lockBy('TARGET_NOT_AVAILABLE', grantStage(tool, subject)) : null;

/** The first lock of a tool's switch; null where it can be moved both ways. */
export const lockOf = (tool: CatalogTool, subject: AgentSubject): Lock | null => globalLock(tool) ?? (tool.locked ? LOCKED : targetLock(tool, subject));
