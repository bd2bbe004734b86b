// Every benchmark, one after another. Figures that depend on the machine are given as ratios of the same run.
import { benchCases } from './cases.mjs';
import { benchCore } from './core.mjs';
import { benchHttp } from './http.mjs';
import { benchImpact } from './impact.mjs';
import { benchMemory } from './memory.mjs';
import { benchOverload } from './overload.mjs';
import { benchReplicas } from './replicas.mjs';
import { benchSearch } from './search.mjs';
import { benchSync } from './sync.mjs';

const all = { core: benchCore, cases: benchCases, http: benchHttp, impact: benchImpact, sync: benchSync, memory: benchMemory, replicas: benchReplicas, overload: benchOverload, search: benchSearch };
const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(all)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n# ${name}`);
  await bench();
}
