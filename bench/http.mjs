import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { startService } from './service.mjs';
import { TURN, example, median } from './support.mjs';

const SECONDS = 4;
const ROUNDS = 3;

const load = (url, headers, requests) => autocannon({ url, method: 'POST', headers: { 'content-type': 'application/json', ...headers }, connections: 16, duration: SECONDS, ...requests });

async function startRaw(answer) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'toolcrib-bench-')), 'answer.json');
  writeFileSync(file, answer);
  const child = spawn(process.execPath, [new URL('./raw-server.mjs', import.meta.url).pathname, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())));
  return { url: `http://127.0.0.1:${port}/`, stop: () => child.kill() };
}

/** Decide on an unchanged tenant beside raw `node:http` answering the same bytes, turn by turn. */
export async function benchHttp() {
  const service = await startService();
  await service.post('/v1/tools/sync', example('catalog'));
  await service.post('/v1/agents/import', example('agents'));
  const question = { agentId: 'assistant', context: TURN };
  const { text } = await service.post('/v1/decide', question);
  const raw = await startRaw(text);
  const rates = { raw: [], same: [], deferred: [], changing: [], check: [] };
  const conversing = { ...question, conversationId: 'bench' };
  const { text: began } = await service.put('/v1/conversations/bench/tool-loading', { agentId: question.agentId, context: TURN });
  if (!JSON.parse(began).toolLoading.deferredSet.length) throw new Error('nothing is deferred');
  const latencies = [];
  let turn = 0;
  const changing = () => JSON.stringify({ ...question, context: { ...TURN, attributes: { turn: (turn += 1) } } });
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.raw.push((await load(raw.url, {}, { body: JSON.stringify(question) })).requests.average);
    const same = await load(`${service.base}/v1/decide`, service.headers, { body: JSON.stringify(question) });
    rates.same.push(same.requests.average);
    latencies.push(same.latency.p99);
    rates.deferred.push((await load(`${service.base}/v1/decide`, service.headers, { body: JSON.stringify(conversing) })).requests.average);
    const everNew = { setupClient: (client) => client.on('response', () => client.setBody(changing())), body: changing() };
    rates.changing.push((await load(`${service.base}/v1/decide`, service.headers, everNew)).requests.average);
    const call = { agentId: 'assistant', toolName: 'web_search', arguments: { query: 'tool policy' }, context: TURN };
    rates.check.push((await load(`${service.base}/v1/check`, service.headers, { body: JSON.stringify(call) })).requests.average);
  }
  raw.stop();
  await service.stop();
  const base = median(rates.raw);
  const line = (name, list) => console.log(`${name}: ${Math.round(median(list))} requests/s, ratio ${(median(list) / base).toFixed(2)}`);
  console.log(`${text.length} bytes an answer, 16 connections, median of ${ROUNDS} rounds of ${SECONDS} s`);
  line('raw node:http, the same bytes', rates.raw);
  line('decide, the same question', rates.same);
  line('decide in a conversation, deferred', rates.deferred);
  console.log(`decide in a conversation: ${(median(rates.deferred) / median(rates.same)).toFixed(2)} of decide without one`);
  line('decide, another question every time', rates.changing);
  line('check with arguments', rates.check);
  console.log(`decide, the same question: p99 ${median(latencies)} ms`);
}
