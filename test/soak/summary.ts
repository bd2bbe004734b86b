import type { Read, Run } from './record.js';
import { worstAge } from './verifier.js';

const percentile = (sorted: readonly number[], share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);

const timesOf = (reads: readonly Read[]): number[] => reads.map(({ askedAt, answeredAt }) => answeredAt - askedAt).sort((a, b) => a - b);

/** A run in a few lines, for people. */
export function summaryOf(run: Run): string {
  const reads = run.tenants.flatMap((tenant) => tenant.reads);
  const writes = run.tenants.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  const seconds = run.tookMs / 1_000;
  const times = timesOf(reads);
  const named = reads.filter(({ minRevision }) => minRevision !== null).length;
  const unchanged = reads.filter(({ is304 }) => is304).length;
  const told = run.tenants.map(({ streamed }) => (streamed === null ? 'none' : String(streamed.revisions.length)));
  const failed = new Map<string, number>();
  for (const { what, status } of run.failures) failed.set(`${what} ${status}`, (failed.get(`${what} ${status}`) ?? 0) + 1);
  return [
    `${seconds.toFixed(1)} s, ${run.tenants.length} tenants`,
    `reads: ${reads.length} (${(reads.length / seconds).toFixed(0)}/s), ${named} with minRevision, ${(100 * unchanged / Math.max(1, reads.length)).toFixed(1)} % answered 304`,
    `writes acknowledged: ${writes} (${(writes / seconds).toFixed(0)}/s); loads of conversations: ${run.tenants.reduce((sum, { loaded }) => sum + loaded.length, 0)}`,
    `time of a read: p50 ${percentile(times, 0.5)} ms, p99 ${percentile(times, 0.99)} ms, worst ${percentile(times, 1)} ms`,
    `the oldest answer was ${Math.max(0, ...run.tenants.map(worstAge)).toFixed(0)} ms behind an acknowledged write`,
    `revisions told by GET /v1/changes: ${told.join(', ')}`,
    `not answered as in fair weather: ${[...failed].map(([what, count]) => `${what}: ${count}`).join(', ') || 'nothing'}`,
    ...run.faults.map(({ name, from, to }) => `broken: ${name} (from ${((from - run.beganAt) / 1_000).toFixed(1)} to ${((to - run.beganAt) / 1_000).toFixed(1)} s)`),
  ].join('\n');
}
