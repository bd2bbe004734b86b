import { readFileSync } from 'node:fs';

export const example = (name) => JSON.parse(readFileSync(new URL(`../examples/${name}.json`, import.meta.url), 'utf8'));

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Median microseconds of one call, over 15 samples after a warm-up. */
export function microseconds(work, calls) {
  for (let i = 0; i < calls; i += 1) work();
  const samples = Array.from({ length: 15 }, () => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i += 1) work();
    return Number(process.hrtime.bigint() - start) / calls / 1000;
  });
  return median(samples);
}

/** The tools of the example catalog, repeated under other names up to `count`. */
export function manyTools(count) {
  const { tools } = example('catalog');
  return Array.from({ length: count }, (_, i) => {
    const tool = tools[i % tools.length];
    return { ...tool, name: i < tools.length ? tool.name : `${tool.name}_${i}`, loadingCategory: null };
  });
}

/** A request with everything that a turn brings along. */
export const TURN = {
  scene: 'chat',
  model: { capabilities: ['text', 'vision'] },
  session: { cwd: '/w/project', workspaceRoots: ['/w'], allowShell: true, readonly: false, allowNetwork: true },
  attributes: { features: { memos: true } },
};

/** The most memory that a process has had at once, in MB. */
const memoryOf = (pid, what) => Math.round(Number(new RegExp(`${what}:\\s+(\\d+) kB`, 'u').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024);
export const peakMemory = (pid) => memoryOf(pid, 'VmHWM');
export const residentMemory = (pid) => memoryOf(pid, 'VmRSS');
