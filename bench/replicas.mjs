// What replicas cost and gain: on a private PostgreSQL and Redis of this machine, so it needs both programs.
import { postgresHome, startPostgres } from '../test/support/postgres-server.mjs';
import { redisHome, startRedis } from '../test/support/redis-server.mjs';
import { load } from './load.mjs';
import { newTenant, startProcess } from './service.mjs';
import { TURN, example, manyTools, median, residentMemory } from './support.mjs';

const WRITES = 200;
const COLD_STARTS = 9;
const SECONDS = 3;
const QUESTION = { agentId: 'assistant', context: TURN };
const TENANTS = 1_000;
const TOOLS = 100;
const AGENTS = 20;

const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const told = (values) => `p50 ${median(values).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`;
const asked = (base, { headers }, body) => fetch(`${base}/v1/decide`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });

async function catalogTenant(service, tools) {
  const tenant = await newTenant(service);
  await tenant.post('/v1/tools/sync', tools === undefined ? example('catalog') : { source: 'bench', tools });
  await tenant.post('/v1/agents/import', example('agents'));
  return tenant;
}

/** From the commit until the other replica knows, after which it answers from nothing older. By the buckets of its own metric. */
function heard(metrics, road) {
  const of = (what) => [...metrics.matchAll(new RegExp(`^toolcrib_invalidation_lag_seconds_${what}\\{(?:le="([^"]+)",)?road="${road}"\\} (\\S+)`, 'gmu'))].map(([, le, value]) => ({ le: Number(le), value: Number(value) }));
  const [{ value: count } = { value: 0 }] = of('count');
  if (count === 0) return [];
  const within = (share) => of('bucket').find(({ value }) => value >= count * share)?.le ?? Infinity;
  return [`  heard over ${road} ${count} times: ${((of('sum')[0].value / count) * 1000).toFixed(1)} ms on average, p50 within ${within(0.5) * 1000} ms, p99 within ${within(0.99) * 1000} ms`];
}

/** From the answer of a write on one replica until a decision on the other one is made by it. */
async function lag(name, here, there) {
  const tenant = await catalogTenant(here);
  const times = [];
  for (let i = 0; i < WRITES; i += 1) {
    const { headers } = await tenant.put('/v1/agents/assistant/tools/web_search/switch', { on: i % 2 === 1 });
    const written = performance.now();
    const revision = headers.get('x-toolcrib-revision');
    let seen;
    do seen = (await asked(there.base, tenant, { ...QUESTION, include: [] })).headers.get('x-toolcrib-revision');
    while (seen !== revision);
    times.push(performance.now() - written);
  }
  const text = await (await fetch(`${there.base}/metrics`)).text();
  console.log(`a write is decided by on the other replica, ${name}: ${told(times)}`);
  for (const road of ['redis', 'postgres']) for (const line of heard(text, road)) console.log(line);
  await tenant.remove();
}

/** The first answer of a replica that has just started, for a question that another one has answered before. */
async function cold(name, servers, tools) {
  const times = [];
  const warm = await startProcess(servers);
  const tenant = await catalogTenant(warm, tools);
  for (let i = 0; i < 5; i += 1) await (await asked(warm.base, tenant, QUESTION)).text();
  for (let i = 0; i < COLD_STARTS; i += 1) {
    const replica = await startProcess(servers);
    const start = performance.now();
    await (await asked(replica.base, tenant, QUESTION)).text();
    times.push(performance.now() - start);
    await replica.end();
  }
  console.log(`first answer of a new replica, ${tools?.length ?? 54} tools, ${name}: ${told(times)}`);
  await tenant.remove();
  await warm.end();
}

/** The same question to one replica and to two: on a machine of two cores the generator of the load has no core of its own. */
async function throughput(here, there) {
  const tenant = await catalogTenant(here);
  const bodies = [JSON.stringify(QUESTION)];
  const rate = ({ base }) => load({ url: `${base}/v1/decide`, headers: tenant.headers, bodies, seconds: SECONDS, connections: 8 });
  await Promise.all([rate(here), rate(there)]);
  const [one, [a, b]] = [await rate(here), await Promise.all([rate(here), rate(there)])];
  console.log(`decide, the same question: one replica ${Math.round(one)} requests/s, two together ${Math.round(a + b)}`);
  await tenant.remove();
}

/** Every agent of every tenant asked once, and once more: what a replica holds, and whether it stays. */
async function memory(service) {
  const tools = Array.from({ length: TOOLS }, (_, i) => ({ name: `tool_${i}`, description: `does one thing, number ${i}`, isCore: i % 2 === 0 }));
  const agents = Array.from({ length: AGENTS }, (_, i) => ({ agentId: `a${i}`, tools: { inheritCoreTools: true, enabled: [`tool_${i}`], disabled: [] } }));
  const tenants = [];
  for (let i = 0; i < TENANTS; i += 1) {
    const tenant = await newTenant(service);
    await tenant.post('/v1/tools/sync', { source: 'bench', tools });
    await tenant.post('/v1/agents/import', { agents });
    tenants.push(tenant);
  }
  const sizes = [];
  for (let round = 0; round < 4; round += 1) {
    for (const tenant of tenants) await Promise.all(agents.map(async ({ agentId }) => (await asked(service.base, tenant, { agentId })).text()));
    sizes.push(residentMemory(service.pid));
  }
  console.log(`${TENANTS} tenants of ${TOOLS} tools and ${AGENTS} agents, every agent asked, four times over: ${sizes.join(', ')} MB resident`);
}

export async function benchReplicas() {
  const [postgres, redis] = [postgresHome(), redisHome()];
  if (postgres === null || redis === null) {
    console.log('not run: it needs `postgres`, `initdb` and `redis-server`');
    return;
  }
  const [database, shared] = [await startPostgres(postgres), await startRedis(redis)];
  const alone = { DATABASE_URL: database.url };
  const both = { ...alone, REDIS_URL: shared.url };
  for (const [name, servers] of [['with Redis', both], ['with LISTEN/NOTIFY alone', alone]]) {
    const [here, there] = [await startProcess(servers), await startProcess(servers)];
    await lag(name, here, there);
    if (servers === both) await throughput(here, there);
    await Promise.all([here.end(), there.end()]);
  }
  for (const tools of [undefined, manyTools(1_000)]) {
    await cold('with Redis', both, tools);
    await cold('without', alone, tools);
  }
  const service = await startProcess(both);
  await memory(service);
  await service.end();
  await shared.stop();
  await database.stop();
}
