import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { load } from './load.mjs';
import { newTenant, startProcess } from './service.mjs';
import { TURN, example, manyTools, median, peakMemory } from './support.mjs';

const ROUNDS = 9;
const RAW_SECONDS = 0.6;
const SECONDS = 0.6;
const WARM_SECONDS = 3;
/** More than are answered while they are asked. */
const FRESH_BODIES = 20_000;
const WRITES = 60;
const QUESTION = { agentId: 'assistant', context: TURN };
const REPEATED = [JSON.stringify(QUESTION)];

async function startRaw(answers) {
  const folder = mkdtempSync(path.join(tmpdir(), 'toolcrib-bench-'));
  const files = answers.map((answer, i) => path.join(folder, `${i}.json`));
  files.forEach((file, i) => writeFileSync(file, answers[i]));
  const child = spawn(process.execPath, [new URL('./raw-server.mjs', import.meta.url).pathname, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())));
  return { url: (i) => `http://127.0.0.1:${port}/${i}`, stop: () => child.kill() };
}

let turns = 0;
const aTurn = () => (turns += 1);

/** Contexts that nobody has seen before, which change no verdict. */
const newContexts = () => Array.from({ length: FRESH_BODIES }, () => JSON.stringify({ ...QUESTION, context: { ...TURN, attributes: { ...TURN.attributes, turn: aTurn() } } }));

/** Questions that nobody has seen before, nor their answers: a tool is chosen or not by a bit of a running number. */
const newOutcomes = (names) => () => Array.from({ length: FRESH_BODIES }, () => {
  const bits = aTurn() * 2654435761;
  return JSON.stringify({ ...QUESTION, select: names.filter((_, i) => Math.floor(bits / 2 ** (i % 40)) % 2 === 0) });
});

async function catalogTenant(service) {
  const tenant = await newTenant(service);
  await tenant.post('/v1/tools/sync', example('catalog'));
  await tenant.post('/v1/agents/import', example('agents'));
  const { text } = await tenant.put('/v1/conversations/bench/tool-loading', { agentId: QUESTION.agentId, context: TURN });
  if (!JSON.parse(text).toolLoading.deferredSet.length) throw new Error('nothing is deferred');
  return tenant;
}

/** One agent that has half of 5,000 tools, asked for the five lists of names alone. */
async function largeTenant(service) {
  const tenant = await newTenant(service);
  const tools = manyTools(5_000);
  await tenant.post('/v1/tools/sync', { source: 'bench', tools });
  await tenant.put('/v1/agents/assistant', { tools: { enabled: tools.filter((_, i) => i % 2 === 1).map(({ name }) => name) } });
  return tenant;
}

/** Rates of the service beside raw `node:http` with the same bytes, in turns: what disturbs one disturbs the other. */
async function compare({ name, raw, tenant, url = tenant.url, headers = {}, bodies, once = false, status = 200 }) {
  const asked = (seconds, list) => load({ url, headers: { ...tenant.headers, ...headers }, bodies: list, seconds, status, once });
  await asked(WARM_SECONDS, [...bodies(), ...(once ? [...bodies(), ...bodies()] : [])]);
  const rates = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const list = bodies();
    const base = await load({ url: raw, bodies: list, seconds: RAW_SECONDS });
    const rate = await asked(SECONDS, list);
    rates.push({ base, rate, ratio: rate / base });
  }
  const of = (member) => median(rates.map((round) => round[member]));
  console.log(`${name}: ${Math.round(of('rate'))} requests/s beside ${Math.round(of('base'))} raw, ratio ${of('ratio').toFixed(2)} (${rates.map(({ ratio }) => ratio.toFixed(2)).join(' ')})`);
  return of('rate');
}

/** Percentiles at a share of the ceiling: at the ceiling itself they tell of the queue alone. */
async function latency(tenant, ceiling) {
  const { latency: at, requests } = await autocannon({ url: tenant.url, method: 'POST', headers: { 'content-type': 'application/json', ...tenant.headers }, body: REPEATED[0], connections: 16, duration: 8, overallRate: Math.round(ceiling * 0.6) });
  console.log(`decide, the same question, at 60 % of its ceiling (${Math.round(requests.average)} requests/s): p50 ${at.p50} ms, p99 ${at.p99} ms`);
}

/** Each write of governance is followed by a decision, which has to know of it. */
async function afterWrites(tenant) {
  const times = [];
  for (let i = 0; i < WRITES; i += 1) {
    const start = performance.now();
    const { headers } = await tenant.put('/v1/agents/assistant/tools/web_search/switch', { on: i % 2 === 1 });
    const written = performance.now();
    const { json } = await tenant.post('/v1/decide', QUESTION);
    if (String(json.revision) !== headers.get('x-toolcrib-revision')) throw new Error('a decision did not know of the write before it');
    times.push({ write: written - start, decide: performance.now() - written });
  }
  const of = (member) => median(times.map((time) => time[member])).toFixed(1);
  console.log(`${WRITES} writes of governance, each followed by a decision: ${of('write')} ms a write, ${of('decide')} ms the decision after it (medians, one at a time)`);
}

async function footprint({ pid, base }) {
  const metrics = await (await fetch(`${base}/metrics`)).text();
  const lag = Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/mu.exec(metrics)?.[1]);
  console.log(`peak memory ${peakMemory(pid)} MB, the embedded database included unless DATABASE_URL is set; event loop delay p99 ${(lag * 1000).toFixed(1)} ms`);
}

const always = (list) => () => list;

/** One process. Replicas beside it are further calls of `startProcess` on the same DATABASE_URL. */
export async function benchHttp() {
  const service = await startProcess();
  const tenant = await catalogTenant(service);
  const large = await largeTenant(service);
  const namesOnly = [JSON.stringify({ ...QUESTION, include: [] })];
  const { text, headers } = await tenant.post('/v1/decide', QUESTION);
  const { toolNames, disabledReasons } = JSON.parse(text);
  const all = [...toolNames, ...Object.keys(disabledReasons)];
  const { text: largeText } = await large.post('/v1/decide', JSON.parse(namesOnly[0]));
  const { text: chosenText } = await tenant.post('/v1/decide', JSON.parse(newOutcomes(all)()[0]));
  const raw = await startRaw([text, largeText, chosenText]);
  const conversing = [JSON.stringify({ ...QUESTION, conversationId: 'bench' })];
  const call = [JSON.stringify({ agentId: 'assistant', toolName: 'web_search', arguments: { query: 'tool policy' }, context: TURN })];
  console.log(`${text.length} bytes an answer, ${all.length} tools, 16 connections; medians of ${ROUNDS} rounds`);
  const ceiling = await compare({ name: 'decide, the same question', raw: raw.url(0), tenant, bodies: always(REPEATED) });
  await compare({ name: '304, the same question', raw: raw.url(0), tenant, bodies: always(REPEATED), headers: { 'if-none-match': headers.get('etag') }, status: 304 });
  await compare({ name: 'decide in a conversation, deferred', raw: raw.url(0), tenant, bodies: always(conversing) });
  await compare({ name: 'decide, another context every time', raw: raw.url(0), tenant, bodies: newContexts, once: true });
  await compare({ name: `decide, another outcome every time (${chosenText.length} bytes)`, raw: raw.url(2), tenant, bodies: newOutcomes(all), once: true });
  await compare({ name: `decide, the same question, 5000 tools, \`include: []\` (${largeText.length} bytes)`, raw: raw.url(1), tenant: large, bodies: always(namesOnly) });
  await compare({ name: 'check with arguments', raw: raw.url(0), tenant, url: `${service.base}/v1/check`, bodies: always(call) });
  await latency(tenant, ceiling);
  await afterWrites(tenant);
  await footprint(service);
  raw.stop();
  await tenant.remove();
  await large.remove();
  await service.end();
}
