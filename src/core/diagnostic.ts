/** What is told of running a tool: it changes nothing of what is decided (semantics, section 3). */
import type { CatalogTool, RuntimeProfile } from './catalog.js';
import { isOpen } from './catalog.js';
import type { RendererBinding, RuntimeDiagnostic } from './decision.js';
import { emptyNameMap } from './json.js';
import type { NameMap } from './json.js';
import type { PolicyView } from './policy-view.js';
import type { SessionInput, SubagentContext } from './request.js';
import { readSession } from './request.js';
import type { Route } from './route.js';
import { routeOf, sessionFacts } from './route.js';

const DEFAULT_RENDERER: RendererBinding = { key: 'default', binding: 'default', capabilities: [] };

/** The declared renderer is `custom`. */
export const rendererOf = ({ effective: { renderer } }: CatalogTool): RendererBinding =>
  renderer === null ? DEFAULT_RENDERER : { key: renderer.key, binding: 'custom', capabilities: renderer.capabilities };

/** A tool's route with all around it. `operations` is the backend that the context names, or null. */
export const diagnosticOf = (tool: CatalogTool, profile: RuntimeProfile, { route, blockedReasons }: Route, operations: string | null): RuntimeDiagnostic =>
  ({ profile, route, blockedReasons, renderer: rendererOf(tool), operations });

/** A question about a session without an agent, as it is sent: null means absent. `subagent` has no part in where a tool runs. */
export interface DiagnosticInput {
  readonly session?: SessionInput | null;
  readonly subagent?: SubagentContext | null;
  readonly toolNames?: readonly string[] | null;
}

export interface DiagnosticAnswer {
  readonly revision: number;
  readonly tools: NameMap<RuntimeDiagnostic>;
}

/** Over the available tools that agents may know of, whatever their status; as for an agent that overrides nothing. */
export function diagnoseTools(view: PolicyView, { session, toolNames }: DiagnosticInput): DiagnosticAnswer {
  const facts = session ? sessionFacts(readSession(session)) : null;
  const wanted = toolNames ? new Set(toolNames) : null;
  const tools = emptyNameMap<RuntimeDiagnostic>();
  for (const tool of view.tools) {
    if (!isOpen(tool) || wanted?.has(tool.name) === false) continue;
    tools[tool.name] = diagnosticOf(tool, tool.profile, routeOf(tool, tool.profile.workerRoutingStrategy, facts), null);
  }
  return { revision: view.revision, tools };
}
