/** The answer to one decide call. Every list is by (`sort`, `name`); the same input gives the same bytes. */
import type { GrantedState } from './agent-state.js';
import type { Warning } from './agent-document.js';
import type { Capability, Kind, Renderer, RuntimeProfile } from './catalog.js';
import type { NameMap } from './json.js';
import type { ToolLoading } from './loading-state.js';
import type { Reason, ReasonCode } from './reason.js';
import type { Route, RouteName } from './route.js';

export interface DecidedTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly toolset: string;
  readonly capability: Capability;
  readonly kind: Kind;
  readonly isCore: boolean;
  readonly state: GrantedState;
  /** There when the tool takes part in intent recognition. */
  readonly intent?: { readonly delegates: readonly string[] };
}

export interface PromptHint {
  readonly toolName: string;
  readonly hint: string;
}

/** How a page shows a tool's results: the declared renderer, else the default one. */
export interface RendererBinding extends Renderer {
  readonly binding: 'custom' | 'default';
}

export interface RuntimeDiagnostic {
  readonly profile: RuntimeProfile;
  readonly route: RouteName;
  readonly blockedReasons: readonly ReasonCode[];
  readonly renderer: RendererBinding;
  /** The execution backend that the context names, or null. Reported, never decided on. */
  readonly operations: string | null;
}

/** The parts that `include` chooses are absent when it leaves them out. */
export interface Decision {
  readonly agentId: string;
  readonly revision: number;
  /** Passed stages 0 to 7: allowed by configuration. */
  readonly allowedTools: readonly string[];
  /** Passed every stage: really enters the runtime. */
  readonly toolNames: readonly string[];
  readonly initialTools: readonly string[];
  readonly searchableTools: readonly string[];
  readonly loaderTools: readonly string[];
  readonly tools?: readonly DecidedTool[];
  readonly toolPromptHints?: readonly PromptHint[];
  readonly disabledReasons?: NameMap<Reason>;
  readonly effectiveRuntimeProfile?: NameMap<RuntimeProfile>;
  readonly toolRuntimeRoutes?: NameMap<Route>;
  readonly effectiveSubagentAllowed?: NameMap<boolean>;
  readonly runtimeDiagnostic?: NameMap<RuntimeDiagnostic>;
  /** Null without a conversation's snapshot and without a state of the runtime's own. */
  readonly toolLoading: ToolLoading | null;
  /** In the format that was asked for. */
  readonly definitions?: readonly object[];
  readonly nameMap: NameMap<string>;
  readonly warnings: readonly Warning[];
  readonly emptyReason: ReasonCode | 'EMPTY_CATALOG' | null;
}

/** The answer to one check call. */
export interface CheckAnswer {
  readonly allowed: boolean;
  readonly code: ReasonCode | 'OK';
  readonly stage: Reason['stage'] | null;
  /** Safe to show a model. */
  readonly message: string;
  /** Null unless stages 0 to 7 passed. */
  readonly route: Route | null;
  readonly revision: number;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}
