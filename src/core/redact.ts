/** What a reader of history is not shown: secrets that somebody put into a member where anything may stand. */
import type { Declaration } from './catalog.js';
import type { AgentState, Change, DeclaredTool, OverridesState, ToolState } from './history.js';
import { isObject } from './json.js';

export const REDACTED = '[redacted]';

/** Names of members that hold a secret in most configurations. */
const SECRET = /(?:secret|passwd|password|passphrase|credentials?|authorization|cookie|(?:api|private|access)[-_]?key|token)$/iu;

/** The value without what its member names say is secret, at any depth. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, SECRET.test(name) && member !== null ? REDACTED : masked(member)]));
}

/** `extra` and `annotations` take any member; every other one is of a known shape, and the decisions answer it in full. */
const withoutSecrets = <T extends { readonly extra?: unknown; readonly annotations?: unknown }>(holder: T): T => ({
  ...holder,
  ...('extra' in holder && { extra: masked(holder.extra) }),
  ...('annotations' in holder && { annotations: masked(holder.annotations) }),
});

function overrides<T>(byTool: T): T {
  if (!isObject(byTool)) return byTool;
  return Object.fromEntries(Object.entries(byTool).map(([name, override]) => [name, isObject(override) ? withoutSecrets(override) : override])) as T;
}

function agent(state: AgentState | null): AgentState | null {
  if (state === null) return null;
  const legacy = state.legacy !== null && 'toolOverrides' in state.legacy ? { ...state.legacy, toolOverrides: overrides(state.legacy['toolOverrides']) } : state.legacy;
  return { ...state, toolOverrides: overrides(state.toolOverrides), legacy };
}

function tool<T extends DeclaredTool | ToolState | OverridesState>(state: T): T {
  return {
    ...state,
    ...('declaration' in state && { declaration: withoutSecrets<Declaration>(state.declaration) }),
    ...(state.governance !== undefined && { governance: withoutSecrets(state.governance) }),
  };
}

/** For showing alone: what is kept stays whole, or it could not be put back. */
export function redacted(change: Change): Change {
  switch (change.entity) {
    case 'agent':
      return { ...change, before: agent(change.before), after: agent(change.after) };
    case 'tool':
      return { ...change, before: change.before && tool(change.before), after: change.after && tool(change.after) };
    case 'sync':
      return { ...change, before: { ...change.before, tools: change.before.tools.map(tool) }, after: { ...change.after, tools: change.after.tools.map(tool) } };
    case 'settings':
      return change;
  }
}
