// Holds the running service to its own document with Schemathesis: every operation, alone and along the document's links.
// `node test/contract-http/run.mjs` is the part for every change, `npm run test:contract` (`… run.mjs long`) goes deeper.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const HOME = 'node_modules/.cache/schemathesis';
const REQUIREMENTS = 'test/contract-http/requirements.txt';
const KEY = 'the-platform-key-of-the-contract-test-01';
const TENANT = 'contract';

const isLong = process.argv[2] === 'long';
const DEPTH = isLong ? { fuzzing: '200', stateful: '400' } : { fuzzing: '10', stateful: '40' };
const ALONE = ['--phases', 'examples,coverage,fuzzing', '--max-examples', DEPTH.fuzzing];
const LINKED = ['--phases', 'stateful', '--max-examples', DEPTH.stateful];
// Tenants come last and by themselves: whatever is found there is deleted there, the tenant of the others too.
const RUNS = [
  ['each operation by itself', '--exclude-tag', 'tenants', ...ALONE],
  ['along the links', '--exclude-tag', 'tenants', ...LINKED],
  ['tenants by themselves', '--include-tag', 'tenants', ...ALONE],
  ['tenants along the links', '--include-tag', 'tenants', ...LINKED],
];

/** An environment of its own for the pinned packages, made anew when they change. */
function install() {
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  const mark = path.join(HOME, 'installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  rmSync(HOME, { recursive: true, force: true });
  for (const [program, ...args] of [['python3', '-m', 'venv', HOME], [path.join(HOME, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]]) {
    if (spawnSync(program, args, { stdio: 'inherit' }).status === 0) continue;
    console.error('Schemathesis can not be installed: it needs Python 3.10 or later with venv (on Debian `apt-get install python3-venv`), and PyPI');
    process.exit(1);
  }
  writeFileSync(mark, wanted);
}

async function startService() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'toolcrib-contract-'));
  const child = spawn(process.execPath, ['dist/main.js'], { env: { PATH: process.env.PATH, PORT: '0', TOOLCRIB_MAX_QUEUE_MS: '600000', TOOLCRIB_PLATFORM_KEY: KEY, TOOLCRIB_DATA_DIR: dataDir }, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  for (let url; ; await sleep(100)) {
    url = /"url":"(http:[^"]+)"/u.exec(printed)?.[1];
    if (url !== undefined) return { url, isRunning: () => child.exitCode === null && child.signalCode === null, stop: () => stop(child, dataDir) };
    if (child.exitCode !== null) throw new Error(`the service does not start: ${printed}`);
  }
}

async function stop(child, dataDir) {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.kill('SIGTERM')) await ended;
  rmSync(dataDir, { recursive: true, force: true });
}

/** What the examples of the document speak of is there. */
async function prepare(url) {
  const call = async (method, route, body, headers = { 'x-tenant-id': TENANT }) => {
    const response = await fetch(url + route, { method, headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${route}: ${await response.text()}`);
  };
  const example = (name) => JSON.parse(readFileSync(`examples/${name}.json`, 'utf8'));
  await call('POST', '/v1/tenants', { tenantId: TENANT, name: 'Contract' }, {});
  await call('POST', '/v1/tools/sync', example('catalog'));
  await call('POST', '/v1/agents/import', example('agents'));
  await call('PUT', '/v1/agents/lead', { subagentConfig: { enabled: true, allowedPresetAgentIds: ['researcher'] } });
  await call('PUT', '/v1/conversations/c-2041/tool-loading', { agentId: 'researcher' });
}

/** One run of Schemathesis: how many cases it made, and whether all of them held. */
async function run(url, [what, ...args]) {
  console.log(`\n${what}`);
  const child = spawn(path.join(HOME, 'bin/schemathesis'), ['--no-color', '--config-file', 'test/contract-http/schemathesis.toml', 'run', 'openapi/openapi.json', '--url', url, ...args], {
    env: { ...process.env, CONTRACT_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += chunk));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  const cases = Number(/^ {2}(\d+) generated/mu.exec(printed)?.[1] ?? 0);
  const holds = code === 0 && cases > 0;
  console.log(holds ? printed.slice(printed.indexOf('Test Phases:')) : printed);
  return { cases, holds };
}

install();
const service = await startService();
const results = [];
try {
  await prepare(service.url);
  for (const one of RUNS) results.push(await run(service.url, one));
  if (!service.isRunning()) throw new Error('the service has ended');
} finally {
  await service.stop();
}
const failed = results.filter(({ holds }) => !holds).length;
console.log(`contract: ${results.reduce((sum, { cases }) => sum + cases, 0)} cases in ${results.length} runs, ${failed} of which found failures`);
process.exit(failed === 0 ? 0 : 1);
