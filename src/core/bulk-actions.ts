/** What an operator does to the lists of an agent as a whole (semantics, section 6). */
import type { AgentTools } from './agent-document.js';

export const BULK_ACTIONS = ['restore-core-defaults', 'clear-enabled', 'clear-disabled'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const isBulkAction = (name: string): name is BulkAction => (BULK_ACTIONS as readonly string[]).includes(name);

/** `isCore` is asked of names as they stand in the lists, registered or not. */
export function applyBulkAction(action: BulkAction, tools: AgentTools, isCore: (name: string) => boolean): AgentTools {
  const ordinary = (names: readonly string[]): readonly string[] => names.filter((name) => !isCore(name));
  switch (action) {
    case 'restore-core-defaults':
      return { inheritCoreTools: true, enabled: ordinary(tools.enabled), disabled: ordinary(tools.disabled) };
    case 'clear-enabled':
      return { ...tools, enabled: [] };
    case 'clear-disabled':
      return { ...tools, disabled: [] };
  }
}
