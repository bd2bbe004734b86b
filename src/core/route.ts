/** Where a tool may run: its static profile, and the dynamic route in one session (semantics, section 3). */
import type { CatalogTool, RoutingStrategy, RuntimeNeeds } from './catalog.js';
import type { ReasonCode } from './reason.js';
import type { Session } from './request.js';
import { isInside } from './workspace.js';

export const ROUTES = ['worker-local', 'main-process-proxy', 'disabled'] as const;
export type RouteName = (typeof ROUTES)[number];

export interface Route {
  readonly route: RouteName;
  /** In the order of the stage table; the first is the primary one. Empty exactly when the route is not `disabled`. */
  readonly blockedReasons: readonly ReasonCode[];
}

/** What a session permits, judged once for all tools. */
export interface SessionFacts {
  readonly shell: boolean;
  readonly writes: boolean;
  readonly network: boolean;
  /** Why files can not be touched, or null where they can. */
  readonly filesFault: 'NO_WORKSPACE' | 'CWD_OUTSIDE_WORKSPACE' | null;
}

export function sessionFacts({ cwd, workspaceRoots, allowShell, readonly, allowNetwork }: Session): SessionFacts {
  return { shell: allowShell === true, writes: readonly !== true, network: allowNetwork !== false, filesFault: filesFault(cwd, workspaceRoots) };
}

function filesFault(cwd: string | null, roots: readonly string[] | null): SessionFacts['filesFault'] {
  if (cwd === null || cwd === '' || roots === null || roots.length === 0) return 'NO_WORKSPACE';
  return isInside(cwd, roots) ? null : 'CWD_OUTSIDE_WORKSPACE';
}

const WORKER_LOCAL: Route = { route: 'worker-local', blockedReasons: [] };
const MAIN_PROCESS_PROXY: Route = { route: 'main-process-proxy', blockedReasons: [] };
const ROUTING_DISABLED: Route = { route: 'disabled', blockedReasons: ['ROUTING_DISABLED'] };

const blocked = new Map<string, Route>();

/** One object for each list of reasons, of which there are few, so that routes compare by identity as refusals do. */
function blockedRoute(blockedReasons: readonly ReasonCode[]): Route {
  const key = blockedReasons.join(' ');
  const known = blocked.get(key);
  if (known !== undefined) return known;
  const route: Route = { route: 'disabled', blockedReasons };
  blocked.set(key, route);
  return route;
}

/** Without a session nothing is blocked by it. A blocked reason binds a proxied tool as well. */
export function routeOf(tool: CatalogTool, strategy: RoutingStrategy, session: SessionFacts | null): Route {
  const needs = tool.effective.runtime;
  const blockedReasons = session === null ? [] : blockedBy(needs, session);
  if (blockedReasons.length > 0) return blockedRoute(blockedReasons);
  if (strategy === 'disabled') return ROUTING_DISABLED;
  return needs.mainProcess || strategy === 'main-process-proxy' ? MAIN_PROCESS_PROXY : WORKER_LOCAL;
}

function blockedBy(needs: RuntimeNeeds, session: SessionFacts): ReasonCode[] {
  const reasons: ReasonCode[] = [];
  if (needs.shell && !session.shell) reasons.push('SHELL_NOT_ALLOWED');
  if (needs.filesystem === 'write' && !session.writes) reasons.push('READONLY_SESSION');
  if (needs.filesystem !== 'none' && session.filesFault !== null) reasons.push(session.filesFault);
  if (needs.network && !session.network) reasons.push('NETWORK_NOT_ALLOWED');
  return reasons;
}
