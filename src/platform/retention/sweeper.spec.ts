import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '../observability/logger.js';
import type { TenantId } from '../tenant-id.js';
import { Sweeper } from './sweeper.js';

const logger = createLogger('silent');

/** Tenants with so much each to remove. */
function heap(due: Record<string, number>) {
  const left = new Map(Object.entries(due));
  const batches: string[] = [];
  const tenants = {
    list: async (after: string | null, limit: number) => [...left.keys()].filter((id) => after === null || id > after).sort().slice(0, limit).map((id) => ({ tenantId: id as TenantId })),
  };
  const sweep = async (tenant: TenantId, batch: number): Promise<number> => {
    const found = Math.min(left.get(tenant) ?? 0, batch);
    left.set(tenant, (left.get(tenant) ?? 0) - found);
    batches.push(tenant);
    return found;
  };
  return { left, batches, tenants, sweep };
}

describe('the sweeper', () => {
  it('removes all that is due of every tenant, in batches', async () => {
    const many = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`t${String(i).padStart(3, '0')}`, i === 7 ? 450 : 1]));
    const { left, batches, tenants, sweep } = heap(many);
    await new Sweeper(tenants, [{ name: 'job', sweep }], logger).sweepAll();
    expect([...left.values()].every((due) => due === 0)).toBe(true);
    expect(batches.filter((tenant) => tenant === 't007')).toHaveLength(3);
  });

  it('goes on with the others where one fails', async () => {
    const { left, tenants, sweep } = heap({ a: 1, b: 1 });
    const failing = { name: 'failing', sweep: () => Promise.reject(new Error('no')) };
    await new Sweeper(tenants, [failing, { name: 'job', sweep }], logger).sweepAll();
    expect([...left.values()]).toEqual([0, 0]);
  });

  it('is silent where the tenants can not be read, and tries again', async () => {
    let tries = 0;
    const sweeper = new Sweeper({ list: () => Promise.reject(new Error(`try ${(tries += 1)}`)) }, [], logger, 1);
    sweeper.start();
    while (tries < 2) await sleep(1);
    await sweeper.stop();
  });

  it('runs once at a time, and ends after the batch under way', async () => {
    const { batches, tenants, sweep } = heap({ a: 1_000_000 });
    const sweeper = new Sweeper(tenants, [{ name: 'job', sweep: async (...parts) => { await sleep(1); return sweep(...parts); } }], logger);
    const [first, second] = [sweeper.sweepAll(), sweeper.sweepAll()];
    expect(second).toBe(first);
    while (batches.length === 0) await sleep(1);
    await sweeper.stop();
    const ended = batches.length;
    await sleep(20);
    expect(batches.length).toBe(ended);
    expect(ended).toBeLessThan(5_000);
  });
});
