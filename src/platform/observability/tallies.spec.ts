import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { Durations, Tallies } from './tallies.js';

const BUCKETS = [0.001, 0.01, 0.1];

describe('what is counted in variables', () => {
  it('is told as a counter of the library would tell it, and scraping counts nothing twice', async () => {
    const registry = new Registry();
    const tallies = new Tallies({ name: 'x_total', help: 'x', labelNames: ['a', 'b'], registers: [registry] });
    for (let i = 0; i < 3; i += 1) tallies.of('1', '"2"').inc();
    tallies.of('1', '3').inc();
    const told = await registry.metrics();
    expect(told).toContain('# TYPE x_total counter');
    expect(told).toContain('x_total{a="1",b="\\"2\\""} 3');
    expect(await registry.metrics()).toBe(told);
    tallies.of('1', '3').inc();
    expect(await registry.metrics()).toContain('x_total{a="1",b="3"} 2');
  });

  it('is told as a histogram of the library would tell it', async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom('t', 'u'), fc.constantFrom('ok', 'empty'), fc.constantFrom(0, 0.001, 0.0011, 0.01, 0.05, 0.1, 7))), async (observed) => {
      const described = { name: 'x_seconds', help: 'x', labelNames: ['tenant', 'outcome'] };
      const [ours, theirs] = [new Registry(), new Registry()];
      const durations = new Durations({ ...described, registers: [ours] }, BUCKETS);
      const histogram = new Histogram({ ...described, buckets: BUCKETS, registers: [theirs] });
      for (const [tenant, outcome, seconds] of observed) {
        durations.of(tenant, outcome).observe(seconds);
        histogram.observe({ tenant, outcome }, seconds);
      }
      const lines = (text: string): string[] => text.split('\n').map((line) => line.replace(/\{(.*)\}/u, (_, labels: string) => labels.split(',').sort().join(','))).sort();
      expect(lines(await ours.metrics())).toEqual(lines(await theirs.metrics()));
    }), { numRuns: 50 });
  });
});
