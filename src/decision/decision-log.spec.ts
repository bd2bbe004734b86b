import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { DecideNoted } from './decision-log.js';
import { DecisionLog } from './decision-log.js';

const noted = (requestId: string, more: Partial<DecideNoted> = {}): DecideNoted => ({
  tenant: 'acme' as TenantId, keyId: 'k1', requestId, traceId: undefined, road: 'ahead', asked: { agentId: 'a' }, revision: 7, staleForMs: 0, durationMs: 0.12345, outcome: 'ok', content: Buffer.from('{}'), ...more,
});

function logOf(share: number, { most, level = 'info' as const }: { most?: number; level?: 'info' | 'warn' } = {}) {
  const lines: any[] = [];
  const metrics = new Metrics();
  const log = new DecisionLog(createLogger(level, { write: (line) => void lines.push(JSON.parse(line)) }), metrics, share, most);
  const dropped = async (): Promise<number> => (await metrics.decisionLogDropped.get()).values[0]?.value ?? NaN;
  return { log, lines, dropped, ids: () => lines.map(({ requestId }) => requestId) };
}

const IDS = Array.from({ length: 4_000 }, (_, i) => String(i));

describe('the log of decisions', () => {
  it('writes nothing on the way of the request, and everything in its order afterwards', async () => {
    const { log, lines, ids } = logOf(1);
    for (const id of IDS) log.note(noted(id));
    expect(lines).toEqual([]);
    while (lines.length < IDS.length) await nextTurn();
    expect(ids()).toEqual(IDS);
  });

  it('lets requests in between when much waits', async () => {
    const { log, lines } = logOf(1);
    for (const id of IDS) log.note(noted(id, { asked: Buffer.from(JSON.stringify({ agentId: 'a', context: { attributes: { long: 'x'.repeat(2_000) } } })) }));
    await nextTurn();
    await nextTurn();
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(IDS.length);
  });

  it('takes the share that it is told, the same of the same requests', () => {
    const ids = (share: number, traceId?: string): string[] => {
      const { log, ids: logged } = logOf(share);
      for (const id of IDS) log.note(noted(id, { traceId }));
      log.onApplicationShutdown();
      return logged();
    };
    expect([ids(0), ids(1)]).toEqual([[], IDS]);
    const half = ids(0.5);
    expect(Math.abs(half.length / IDS.length - 0.5)).toBeLessThan(0.04);
    expect(ids(0.5)).toEqual(half);
    // More of them holds all of fewer.
    const few = new Set(ids(0.1));
    expect(Math.abs(few.size / IDS.length - 0.1)).toBeLessThan(0.03);
    expect([...few].filter((id) => !half.includes(id))).toEqual([]);
    // All of a trace or nothing of it.
    expect([0, IDS.length]).toContain(ids(0.5, '4bf92f3577b34da6a3ce929d0e0e4736').length);
  });

  it('takes its share of the items of a batch', () => {
    const { log, lines } = logOf(0.5);
    for (let item = 0; item < 1_000; item += 1) log.note(noted('one', { item }));
    log.onApplicationShutdown();
    expect(Math.abs(lines.length / 1_000 - 0.5)).toBeLessThan(0.08);
  });

  it('drops what does not fit, counts it, and goes on', async () => {
    const { log, ids, dropped } = logOf(1, { most: 3 });
    for (const id of ['1', '2', '3', '4', '5']) log.note(noted(id));
    expect(await dropped()).toBe(2);
    log.onApplicationShutdown();
    log.note(noted('6'));
    log.onApplicationShutdown();
    expect([ids(), await dropped()]).toEqual([['1', '2', '3', '6'], 2]);
  });

  it('holds no more bytes than it may', async () => {
    const { log, lines, dropped } = logOf(1);
    const content = 'x'.repeat(1024 * 1024);
    for (let i = 0; i < 40; i += 1) log.note(noted(String(i), { content }));
    log.onApplicationShutdown();
    expect([lines.length, await dropped()]).toEqual([31, 9]);
  });

  it('drops and counts a line that can not be made, which is no reason to end', async () => {
    const { log, ids, dropped } = logOf(1);
    log.note(noted('1', { asked: 'no JSON' }));
    log.note(noted('2'));
    log.onApplicationShutdown();
    expect([ids(), await dropped()]).toEqual([['2'], 1]);
  });

  it('is off where lines of its level are', () => {
    const { log, lines } = logOf(1, { level: 'warn' });
    expect(log.isOn).toBe(false);
    log.note(noted('1'));
    log.onApplicationShutdown();
    expect(lines).toEqual([]);
  });

  it('has the same digest for the same bytes, however they are held', () => {
    const { log, lines } = logOf(1);
    const body = Buffer.from('{"toolNames":[]}');
    for (const content of [body, body, Buffer.from(body), body.toString()]) log.note(noted('1', { content }));
    log.note(noted('1', { content: '{}' }));
    log.onApplicationShutdown();
    expect(new Set(lines.slice(0, 4).map(({ projection }) => projection)).size).toBe(1);
    expect(lines[0].projection).toMatch(/^[\w-]{43}$/u);
    expect(lines[4].projection).not.toBe(lines[0].projection);
  });
});
