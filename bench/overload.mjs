// What is still answered in time when more is asked than there is time for.
import net from 'node:net';
import { load, readAnswers, requestsOf } from './load.mjs';
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

/** Connections that are idle; each takes a request and tells its status. */
async function connections(url) {
  const { hostname, port } = new URL(url);
  const idle = [];
  const all = [];
  const connect = () => new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => resolve()).setNoDelay(true).on('error', reject);
    const connection = { answered: null, send: (bytes, answered) => {
      connection.answered = answered;
      socket.write(bytes);
    } };
    socket.on('data', readAnswers((status) => {
      idle.push(connection);
      connection.answered(status);
    }));
    idle.push(connection);
    all.push(socket);
  });
  for (let open = 0; open < CONNECTIONS; open += 100) await Promise.all(Array.from({ length: 100 }, connect));
  return { idle, close: () => all.forEach((socket) => socket.destroy()) };
}

/** Sends at a fixed rate, whatever becomes of it; times count from when a request was due. */
async function offered(tenant, rate) {
  const { idle, close } = await connections(tenant.url);
  const seen = [];
  let due = 0;
  let unsent = 0;
  const start = performance.now();
  const elapsed = () => performance.now() - start;
  while (elapsed() < SECONDS * 1_000) {
    for (; due < (elapsed() / 1_000) * rate; due += 1) {
      const at = (due / rate) * 1_000;
      const connection = idle.pop();
      if (connection === undefined) unsent += 1;
      else connection.send(requestsOf(tenant.url, tenant.headers, [body()])[0], (status) => seen.push({ status, ms: elapsed() - at, by: elapsed() }));
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  while (seen.length < due - unsent) await new Promise((resolve) => setTimeout(resolve, 20));
  close();
  const of = (wanted) => seen.filter(({ status }) => status === wanted);
  const times = (some) => some.map(({ ms }) => ms);
  const [good, refused] = [of(200), of(503)];
  const took = Math.max(...seen.map(({ by }) => by)) / 1_000;
  return { good: good.length / took, p50: percentile(times(good), 0.5), p99: percentile(times(good), 0.99), refused: refused.length / took, refusedP99: percentile(times(refused), 0.99), unsent };
}

export async function benchOverload() {
  // Connections that are open and silent are none of its subject.
  const service = await startProcess({ TOOLCRIB_REQUEST_TIMEOUT_MS: '3600000' });
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
    const { good, p50, p99, refused, refusedP99, unsent } = await offered(tenant, ceiling * factor);
    console.log(`offered ${factor} times the ceiling: ${good.toFixed(0)} answered a second (${((good / ceiling) * 100).toFixed(0)} % of the ceiling), p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms; ${refused.toFixed(0)} refused, p99 ${refusedP99.toFixed(0)} ms; ${unsent} found no connection`);
  }
  await tenant.remove();
  await service.end();
}
