// What is still answered in time when more is asked than there is time for.
import http from 'node:http';
import { load } from './load.mjs';
import { newTenant, startProcess } from './service.mjs';
import { TURN, manyTools } from './support.mjs';

const TOOLS = 5_000;
const SECONDS = 8;
/** Open before it begins: what waits for a connection has not reached the service. */
const CONNECTIONS = 3_000;
const FACTORS = [1, 2, 3, 5];

let turns = 0;
/** A context that nobody has seen before, and one tool asked for: every tool is judged, and the answer is small. */
const body = () => JSON.stringify({ agentId: 'assistant', include: [], select: ['web_search'], context: { ...TURN, attributes: { ...TURN.attributes, turn: (turns += 1) } } });

const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

async function connected(agent, { base }) {
  const touch = () => new Promise((resolve, reject) => http.get(`${base}/health/live`, { agent }, (response) => response.resume().on('end', resolve)).on('error', reject));
  for (let open = 0; open < CONNECTIONS; open += 100) await Promise.all(Array.from({ length: open + 100 }, touch));
}

/** Sends at a fixed rate, whatever becomes of it; times count from when a request was due. */
async function offered(tenant, rate) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS });
  await connected(agent, tenant);
  const seen = [];
  const send = (due) => new Promise((resolve) => {
    const request = http.request(tenant.url, { method: 'POST', agent, headers: { 'content-type': 'application/json', ...tenant.headers } }, (response) => {
      response.resume().on('end', () => {
        seen.push({ status: response.statusCode, ms: performance.now() - due });
        resolve();
      });
    });
    request.on('error', () => {
      seen.push({ status: 0, ms: performance.now() - due });
      resolve();
    });
    request.end(body());
  });
  const start = performance.now();
  const sent = [];
  while (performance.now() - start < SECONDS * 1_000) {
    while (sent.length < ((performance.now() - start) / 1_000) * rate) sent.push(send(start + (sent.length / rate) * 1_000));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await Promise.all(sent);
  const took = (performance.now() - start) / 1_000;
  agent.destroy();
  const good = seen.filter(({ status }) => status === 200).map(({ ms }) => ms);
  const refused = seen.filter(({ status }) => status === 503).map(({ ms }) => ms);
  return { good: good.length / took, p50: percentile(good, 0.5), p99: percentile(good, 0.99), refused: refused.length / took, refusedP99: percentile(refused, 0.99), lost: seen.length - good.length - refused.length };
}

export async function benchOverload() {
  const service = await startProcess();
  const tenant = await newTenant(service);
  const tools = manyTools(TOOLS);
  await tenant.post('/v1/tools/sync', { source: 'bench', tools });
  await tenant.put('/v1/agents/assistant', { tools: { enabled: tools.filter((_, i) => i % 2 === 1).map(({ name }) => name) } });
  const bodies = Array.from({ length: 20_000 }, body);
  const ask = (seconds) => load({ url: tenant.url, headers: tenant.headers, bodies, seconds, connections: 16 });
  await ask(3);
  const ceiling = await ask(SECONDS);
  console.log(`ceiling: ${ceiling.toFixed(0)} decides a second of ${TOOLS} tools in contexts never seen, 16 connections`);
  for (const factor of FACTORS) {
    const { good, p50, p99, refused, refusedP99, lost } = await offered(tenant, ceiling * factor);
    console.log(`offered ${factor} times the ceiling: ${good.toFixed(0)} answered a second (${((good / ceiling) * 100).toFixed(0)} % of the ceiling), p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; ${refused.toFixed(0)} refused, p99 ${refusedP99.toFixed(0)} ms; ${lost} lost`);
  }
  await tenant.remove();
  await service.end();
}
