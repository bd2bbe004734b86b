/** What a caller asks: the context of the turn, and what of the answer it wants. */
import type { JsonObject } from './json.js';

export const VIEWS = ['all', 'intent'] as const;
export type View = (typeof VIEWS)[number];

export const INCLUDES = ['tools', 'promptHints', 'reasons', 'profiles', 'routes', 'subagent', 'diagnostics', 'definitions'] as const;
export type Include = (typeof INCLUDES)[number];

/** Everything but diagnostics and definitions. */
export const DEFAULT_INCLUDE: ReadonlySet<Include> = new Set(INCLUDES.filter((part) => part !== 'diagnostics' && part !== 'definitions'));

/** What the running session permits; null = not said. */
export interface Session {
  readonly cwd: string | null;
  readonly workspaceRoots: readonly string[] | null;
  readonly allowShell: boolean | null;
  readonly readonly: boolean | null;
  readonly allowNetwork: boolean | null;
}

export interface SubagentContext {
  readonly parentAgentId: string;
  /** 1 to 64. */
  readonly depth: number;
}

export interface DecideContext {
  readonly scene: string | null;
  /** Null without a model, or without a word on its capabilities: text only. */
  readonly capabilities: readonly string[] | null;
  readonly session: Session | null;
  readonly subagent: SubagentContext | null;
  readonly operations: string | null;
  readonly attributes: JsonObject;
}

export interface DecideRequest {
  readonly agentId: string;
  readonly context: DecideContext;
  readonly view: View;
  readonly select: readonly string[] | null;
  readonly include: ReadonlySet<Include>;
}

export interface CheckRequest {
  readonly agentId: string;
  readonly toolName: string;
  readonly context: DecideContext;
  /** Undefined = only the permission is asked. */
  readonly arguments?: unknown;
}

/** The request bodies as they are sent, their shape checked: null means absent. */
export interface ContextInput {
  readonly scene?: string | null;
  readonly model?: { readonly capabilities?: readonly string[] | null } | null;
  readonly session?: { readonly [K in keyof Session]?: Session[K] } | null;
  readonly subagent?: SubagentContext | null;
  readonly operations?: string | null;
  readonly attributes?: JsonObject | null;
}

export interface DecideInput {
  readonly agentId: string;
  readonly context?: ContextInput | null;
  readonly view?: View | null;
  readonly select?: readonly string[] | null;
  readonly include?: readonly Include[] | null;
}

export interface CheckInput {
  readonly agentId: string;
  readonly toolName: string;
  readonly context?: ContextInput | null;
  readonly arguments?: unknown;
}

export function readContext(input: ContextInput | null | undefined): DecideContext {
  const { scene, model, session, subagent, operations, attributes } = input ?? {};
  return {
    scene: scene ?? null,
    capabilities: model?.capabilities ?? null,
    session: session ? readSession(session) : null,
    subagent: subagent ?? null,
    operations: operations ?? null,
    attributes: attributes ?? {},
  };
}

const readSession = ({ cwd, workspaceRoots, allowShell, readonly, allowNetwork }: NonNullable<ContextInput['session']>): Session => ({
  cwd: cwd ?? null,
  workspaceRoots: workspaceRoots ?? null,
  allowShell: allowShell ?? null,
  readonly: readonly ?? null,
  allowNetwork: allowNetwork ?? null,
});

export const readDecideRequest = (input: DecideInput): DecideRequest => ({
  agentId: input.agentId,
  context: readContext(input.context),
  view: input.view ?? 'all',
  select: input.select ?? null,
  include: input.include ? new Set(input.include) : DEFAULT_INCLUDE,
});

export const readCheckRequest = (input: CheckInput): CheckRequest => ({
  agentId: input.agentId,
  toolName: input.toolName,
  context: readContext(input.context),
  arguments: input.arguments ?? undefined,
});
