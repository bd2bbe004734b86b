import type { PolicyView } from '../core/policy-view.js';

/** A record in memory by the length of its JSON, and what each costs beside it: within 5 % for terse and for wordy catalogs (`bench/memory.mjs`). */
const HEAP_PER_CHAR = 1.3;
const HEAP_PER_RECORD = 700;

const byRecord = new WeakMap<object, number>();
const byView = new WeakMap<PolicyView, number>();

/** About how many bytes of memory a view takes. A record is weighed once, however many views share it. */
export function viewSize(view: PolicyView): number {
  const known = byView.get(view);
  if (known !== undefined) return known;
  let size = HEAP_PER_RECORD;
  for (const { record } of view.tools) size += recordSize(record);
  for (const { record } of view.agents.values()) size += recordSize(record);
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
