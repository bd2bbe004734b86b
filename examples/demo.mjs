// The main job from end to end, through the HTTP API alone: tenant, key, catalog, agents, one decision as a table,
// and what an agent with many tools saves when it searches for them.
import { readFile, readdir } from 'node:fs/promises';
import { ConfigError, parseConfig } from '../dist/platform/config/config.js';
import { platformKeyOf } from '../dist/platform/config/platform-key.js';
import { createLogger } from '../dist/platform/observability/logger.js';
import { startService } from '../dist/service.js';

const TENANT = 'demo';
const load = async (name) => JSON.parse(await readFile(new URL(`./${name}.json`, import.meta.url), 'utf8'));

function giveUp(error) {
  const lines = error instanceof ConfigError ? error.mistakes : [error.code === 'EADDRINUSE' ? 'the port is taken; try PORT=0 npm run demo' : error.message];
  for (const line of lines) console.error(`the demo can not start: ${line}`);
  process.exit(1);
}

/** Always the embedded database, in a folder of its own, whatever else the shell is set up for. */
async function start() {
  const { HOST, PORT } = process.env;
  const config = parseConfig({ HOST, PORT, TOOLCRIB_DATA_DIR: '.toolcrib/demo' });
  const { key } = await platformKeyOf(config);
  return { ...(await startService(config, key, createLogger('warn'))), platformKey: key };
}

const service = await start().catch(giveUp);

async function call(method, path, body, headers) {
  const response = await fetch(service.url + path, { method, headers: { 'content-type': 'application/json', ...headers }, body: body && JSON.stringify(body) });
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok && response.status !== 409) throw new Error(`${method} ${path}: ${answer.detail}`);
  return answer;
}

const platform = { authorization: `Bearer ${service.platformKey}` };

/** A tenant with a key of a day that may do everything in it. */
async function tenant(tenantId, name) {
  await call('POST', '/v1/tenants', { tenantId, name }, platform);
  const { key } = await call('POST', '/v1/keys', { name: 'demo', scopes: ['admin'], expiresAt: new Date(Date.now() + 24 * 3_600_000).toISOString() }, { ...platform, 'x-tenant-id': tenantId });
  return { key, headers: { authorization: `Bearer ${key}` } };
}

const { key, headers } = await tenant(TENANT, 'Demo');

const synced = await call('POST', '/v1/tools/sync', await load('catalog'), headers);
console.log(`\nsynced examples/catalog.json: ${synced.added.length} added, ${synced.unchanged} unchanged, ${synced.rejected.length} rejected (revision ${synced.revision})`);
const imported = await call('POST', '/v1/agents/import', await load('agents'), headers);
for (const { agentId, status, document, added } of imported.results) {
  const widened = status === 'imported' && document.origin === 'legacy' ? `, from an old document; it has ${added.length} core tools more than by the old rule` : '';
  console.log(`agent ${agentId.padEnd(15)} ${status}${widened}`);
}

const question = { agentId: 'researcher', context: { scene: 'chat', model: { capabilities: ['text', 'vision'] }, session: { cwd: '/w/project', workspaceRoots: ['/w'], readonly: true, allowShell: false } } };
const decision = await call('POST', '/v1/decide', question, headers);
const rows = [
  ...decision.tools.map(({ name, state }) => [name, state, decision.toolRuntimeRoutes[name].route]),
  ...Object.entries(decision.disabledReasons).map(([name, { code, stage }]) => [name, `refused (${stage})`, code]),
];
const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column].length)));
const line = (row) => row.map((cell, column) => cell.padEnd(widths[column])).join('  ').trimEnd();
console.log(`\nwhat \`researcher\` has in a read-only session without a shell (revision ${decision.revision}):\n`);
console.log([['tool', 'state', 'route or reason'], widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n'));

console.log(`\n${decision.toolNames.length} of ${rows.length}. Tools that are internal stand in no answer.`);

/** The first turn of an agent that may use every tool of many MCP servers: all definitions at once, or a search for them. */
async function manyTools() {
  const { headers: mine } = await tenant(`${TENANT}-mcp`, 'Demo, many tools');
  const folder = new URL('./mcp/', import.meta.url);
  const servers = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
  for (const file of servers) {
    const { server, tools } = JSON.parse(await readFile(new URL(file, folder), 'utf8'));
    await call('POST', '/v1/tools/sync', { source: server, namespace: server, format: 'mcp', tools }, mine);
  }
  const { items } = await call('GET', '/v1/toolsets', undefined, mine);
  const names = await allToolNames(mine);
  await call('POST', '/v1/agents/import', { agents: [{ agentId: 'generalist', tools: { enabled: names } }] }, mine);
  const first = (exposure) => call('POST', '/v1/decide', { agentId: 'generalist', exposure, format: 'anthropic', include: ['definitions'] }, mine);
  const [all, search] = [await first('all'), await first('search')];
  const tokens = ({ definitions }) => Math.round(JSON.stringify(definitions).length / 4);
  const saved = (100 * (1 - tokens(search) / tokens(all))).toFixed(1);
  console.log(`\nan agent with ${all.toolNames.length} tools of ${items.length} real MCP servers (examples/mcp), its first turn; characters / 4 for tokens:\n`);
  console.log(`every definition at once     ${String(tokens(all)).padStart(7)} tokens in ${all.definitions.length} definitions`);
  console.log(`only \`tool_search\` at first  ${String(tokens(search)).padStart(7)} tokens in ${search.definitions.length} definition: ${saved} % saved`);
  for (const query of ['take a screenshot of a page', '给同事发一条消息']) {
    const { results } = await call('POST', '/v1/search', { agentId: 'generalist', query, limit: 3, exposure: 'search' }, mine);
    console.log(`\`${query}\` finds ${results.map(({ name }) => name).join(', ')}`);
  }
}

async function allToolNames(mine) {
  const names = [];
  for (let cursor = null; ;) {
    const page = await call('GET', `/v1/tools?limit=500${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`, undefined, mine);
    names.push(...page.items.map(({ name }) => name));
    cursor = page.nextCursor;
    if (cursor === null) return names;
  }
}

await manyTools();

console.log(`\nstill serving. Ask the same yourself:\n`);
console.log(`curl -s ${service.url}/v1/decide -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(question)}'\n`);
console.log(`Swagger:      ${service.url}/docs`);
console.log(`key:          ${key}`);
console.log('platform key: in .toolcrib/demo/platform-key\n');

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void service.stop().then(() => process.exit(0)));
