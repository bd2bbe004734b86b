/** What a caller asks: the context of the turn, and what of the answer it wants. */
import type { OfferingAsked } from './expose.js';
import type { Format } from './formats/format.js';
import type { JsonObject } from './json.js';
import type { Exposure } from './settings.js';

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

export interface DecideRequest extends OfferingAsked {
  readonly agentId: string;
  readonly context: DecideContext;
  readonly view: View;
  readonly select: readonly string[] | null;
  readonly include: ReadonlySet<Include>;
  readonly nativeDeferral: boolean;
}

export interface CheckRequest extends OfferingAsked {
  readonly agentId: string;
  readonly toolName: string;
  readonly context: DecideContext;
  /** Undefined = only the permission is asked. */
  readonly arguments?: unknown;
}

export interface SearchRequest extends OfferingAsked {
  readonly agentId: string;
  readonly context: DecideContext;
  readonly query: string;
  readonly limit: number;
}

/** The request bodies as they are sent, their shape checked: null means absent. */
export type SessionInput = { readonly [K in keyof Session]?: Session[K] };

export interface ContextInput {
  readonly scene?: string | null;
  readonly model?: { readonly capabilities?: readonly string[] | null } | null;
  readonly session?: SessionInput | null;
  readonly subagent?: SubagentContext | null;
  readonly operations?: string | null;
  readonly attributes?: JsonObject | null;
}

/** Results of a search that names no limit, and the most that one may ask for. */
export const SEARCH_LIMIT = { default: 5, max: 50 } as const;

/** What the three questions (decide, check, search) say alike of the agent, its turn and its conversation. */
export interface TurnInput {
  readonly agentId: string;
  readonly context?: ContextInput | null;
  readonly conversationId?: string | null;
  readonly toolLoading?: unknown;
  readonly exposure?: Exposure | null;
  readonly discovered?: readonly string[] | null;
  readonly format?: Format | null;
}

export interface DecideInput extends TurnInput {
  readonly view?: View | null;
  readonly select?: readonly string[] | null;
  readonly include?: readonly Include[] | null;
  readonly nativeDeferral?: boolean | null;
}

export interface CheckInput extends TurnInput {
  readonly toolName: string;
  readonly arguments?: unknown;
}

export interface SearchInput extends TurnInput {
  readonly query: string;
  readonly limit?: number | null;
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

export const readSession = ({ cwd, workspaceRoots, allowShell, readonly, allowNetwork }: SessionInput): Session => ({
  cwd: cwd ?? null,
  workspaceRoots: workspaceRoots ?? null,
  allowShell: allowShell ?? null,
  readonly: readonly ?? null,
  allowNetwork: allowNetwork ?? null,
});

const readTurn = ({ agentId, context, exposure, toolLoading, discovered, format }: TurnInput): OfferingAsked & { readonly agentId: string; readonly context: DecideContext } => ({
  agentId,
  context: readContext(context),
  exposure: exposure ?? null,
  toolLoading: toolLoading ?? null,
  discovered: discovered ?? [],
  format: format ?? null,
});

export function readDecideRequest(input: DecideInput): DecideRequest {
  // Written out: a spread costs more than all the rest, on every decision.
  const { agentId, context, exposure, toolLoading, discovered, format } = readTurn(input);
  return {
    agentId,
    context,
    exposure,
    toolLoading,
    discovered,
    format,
    view: input.view ?? 'all',
    select: input.select ?? null,
    include: input.include ? new Set(input.include) : DEFAULT_INCLUDE,
    nativeDeferral: input.nativeDeferral ?? false,
  };
}

export const readCheckRequest = (input: CheckInput): CheckRequest => ({
  ...readTurn(input),
  toolName: input.toolName,
  arguments: input.arguments ?? undefined,
});

export const readSearchRequest = (input: SearchInput): SearchRequest => ({ ...readTurn(input), query: input.query, limit: input.limit ?? SEARCH_LIMIT.default });
