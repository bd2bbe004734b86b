import { AGENTS, GUEST, SMALL_NAMES, TOOLS, any, documentOf, smallSync, some } from './crib.js';
import type { Claim } from './record.js';

export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly claim: Claim;
  /** Whether it needs the ETag of what is there. */
  readonly isConditional: boolean;
}

let writes = 0;

/** Some write, different from all others wherever a write can say so. */
export function nextWrite(): Write {
  writes += 1;
  return any(KINDS)(`w${writes}`);
}

const names = TOOLS.map(({ name }) => name);

const KINDS: readonly ((mark: string) => Write)[] = [
  switching, switching, switching, governing, governing, setting, saving, saving, syncing, guest,
];

function switching(): Write {
  const [agentId, tool, on] = [any(AGENTS), any(names), Math.random() < 0.5];
  return { method: 'PUT', path: `/v1/agents/${agentId}/tools/${tool}/switch`, body: { on }, claim: { kind: 'switch', agentId, tool, on }, isConditional: false };
}

function governing(label: string): Write {
  const [name, status] = [any(names), Math.random() < 0.7 ? 'enabled' : 'disabled'];
  return { method: 'PATCH', path: `/v1/tools/${name}`, body: { status, label }, claim: { kind: 'tool', name, status, label }, isConditional: true };
}

function setting(): Write {
  const patch = { alwaysInitial: some(names, 0.2), childWithinParent: Math.random() < 0.5, maxSubagentDepth: any([1, 2, 3]) };
  return { method: 'PATCH', path: '/v1/settings', body: patch, claim: { kind: 'settings', patch }, isConditional: true };
}

function saving(displayName: string): Write {
  const agentId = any(AGENTS);
  const [enabled, disabled] = [some(names, 0.3), some(names, 0.1)];
  return { method: 'PUT', path: `/v1/agents/${agentId}`, body: documentOf(displayName, enabled, disabled), claim: { kind: 'agent', agentId, displayName, enabled, disabled }, isConditional: true };
}

function syncing(description: string): Write {
  const declared = [any(SMALL_NAMES), any(SMALL_NAMES)].filter((name, i, all) => all.indexOf(name) === i);
  return { method: 'POST', path: '/v1/tools/sync', body: smallSync(description, declared), claim: { kind: 'sync', source: 'small', names: declared, description }, isConditional: false };
}

/** After a deletion the others have to read everything anew, for nothing tells of what is gone. */
function guest(displayName: string): Write {
  const path = `/v1/agents/${GUEST}`;
  if (Math.random() < 0.5) return { method: 'DELETE', path, claim: { kind: 'no agent', agentId: GUEST }, isConditional: false };
  return { method: 'PUT', path, body: documentOf(displayName, [], []), claim: { kind: 'agent', agentId: GUEST, displayName, enabled: [], disabled: [] }, isConditional: false };
}
