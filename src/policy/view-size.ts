import type { PolicyAgent, PolicyView } from '../core/policy-view.js';
import { isReused } from './shared-parts.js';

/** What a record costs beside its members: its places in lists, maps and weak maps. */
const RECORD_BYTES = 150;
const OBJECT_BYTES = 24;
const MEMBER_BYTES = 8;
const STRING_BYTES = 20;
/** Values of JSON up to this length are one string each in all of the process. */
const SHORT = 10;
/** A name in a list of an agent, which is a set as well. */
const NAME_BYTES = 40;
const WIDE = /[\u0100-\u{10ffff}]/u;

const byRecord = new WeakMap<object, number>();
const byView = new WeakMap<PolicyView, number>();

/** About how many bytes of memory a view takes (`bench/memory.mjs`). A record is weighed once, however many views share it. */
export function viewSize(view: PolicyView): number {
  const known = byView.get(view);
  if (known !== undefined) return known;
  let size = RECORD_BYTES;
  for (const { record } of view.tools) size += recordSize(record);
  for (const agent of view.agents.values()) size += recordSize(agent.record) + NAME_BYTES * ownNames(agent);
  byView.set(view, size);
  return size;
}

function recordSize(record: object): number {
  const known = byRecord.get(record);
  if (known !== undefined) return known;
  const size = RECORD_BYTES + sizeOf(record);
  byRecord.set(record, size);
  return size;
}

/** What was found again was charged to whom it was found with first. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length <= SHORT ? 0 : STRING_BYTES + value.length * (WIDE.test(value) ? 2 : 1);
  if (typeof value !== 'object' || value === null || isReused(value)) return 0;
  return Object.values(value).reduce<number>((size, member) => size + MEMBER_BYTES + sizeOf(member), OBJECT_BYTES);
}

function ownNames({ record: { document } }: PolicyAgent): number {
  const lists = [document.tools.enabled, document.tools.disabled, document.availableTools, document.subagentConfig.allowedToolNames];
  return lists.reduce((names, list) => names + (list === null || isReused(list) ? 0 : list.length), 0);
}
