import { startService } from './service.mjs';
import { manyTools, median } from './support.mjs';

const seconds = async (work) => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

/** A sync of 5,000 tools: new, unchanged, and all changed. */
export async function benchSync() {
  const service = await startService();
  const sync = (source, more) => service.post('/v1/tools/sync', { source, mode: 'full', confirmRemovals: true, tools: manyTools(5_000).map((tool) => ({ ...tool, ...more })) });
  console.log(`on ${process.env.DATABASE_URL ? 'PostgreSQL' : 'the embedded database'}`);
  console.log(`5000 new tools: ${(await seconds(() => sync('s', {}))).toFixed(2)} s`);
  const unchanged = [];
  const changed = [];
  for (let i = 0; i < 3; i += 1) {
    unchanged.push(await seconds(() => sync('s', i === 0 ? {} : { description: `words ${i - 1}` })));
    changed.push(await seconds(() => sync('s', { description: `words ${i}` })));
  }
  console.log(`the same again: ${median(unchanged).toFixed(2)} s`);
  console.log(`every one changed: ${median(changed).toFixed(2)} s`);
  await service.stop();
}
