import type { PolicyView } from '../core/policy-view.js';

/** A record in memory by the length of its JSON, and what each costs beside it: within 5 % for terse and for wordy catalogs (`bench/memory.mjs`). */
const HEAP_PER_CHAR = 1.3;
const HEAP_PER_RECORD = 450;
/** A name in a list of an agent, which is a set as well. */
const HEAP_PER_NAME = 40;

const byRecord = new WeakMap<object, number>();
const byView = new WeakMap<PolicyView, number>();

/** About how many bytes of memory a view takes. A record is weighed once, however many views share it. */
export function viewSize(view: PolicyView): number {
  const known = byView.get(view);
  if (known !== undefined) return known;
  let size = HEAP_PER_RECORD;
  for (const { record } of view.tools) size += recordSize(record);
  for (const { record, enabled, disabled, availableTools, subagentTools } of view.agents.values()) {
    size += recordSize(record) + HEAP_PER_NAME * [enabled, disabled, availableTools, subagentTools].reduce((names, list) => names + (list?.size ?? 0), 0);
  }
  byView.set(view, size);
  return size;
}

function recordSize(record: object): number {
  const known = byRecord.get(record);
  if (known !== undefined) return known;
  const size = HEAP_PER_RECORD + Math.ceil(HEAP_PER_CHAR * JSON.stringify(record).length);
  byRecord.set(record, size);
  return size;
}
