// The main job from end to end, through the HTTP API alone: tenant, key, catalog, agents, one decision as a table.
import { readFile } from 'node:fs/promises';
import { parseConfig } from '../dist/platform/config/config.js';
import { createLogger } from '../dist/platform/observability/logger.js';
import { startService } from '../dist/service.js';

const TENANT = 'demo';
const load = async (name) => JSON.parse(await readFile(new URL(`./${name}.json`, import.meta.url), 'utf8'));

const config = parseConfig({ TOOLCRIB_DATA_DIR: '.toolcrib/demo', ...process.env });
const service = await startService(config, createLogger('warn')).catch((error) => {
  const hint = error.code === 'EADDRINUSE' ? `port ${config.port} is taken; try PORT=0 npm run demo` : error.message;
  console.error(`the demo can not start: ${hint}`);
  process.exit(1);
});

async function call(method, path, body, headers) {
  const response = await fetch(service.url + path, { method, headers: { 'content-type': 'application/json', ...headers }, body: body && JSON.stringify(body) });
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok && response.status !== 409) throw new Error(`${method} ${path}: ${answer.detail}`);
  return answer;
}

const platform = { authorization: `Bearer ${service.platformKey}` };
await call('POST', '/v1/tenants', { tenantId: TENANT, name: 'Demo' }, platform);
const { key } = await call('POST', '/v1/keys', { name: 'demo', scopes: ['admin'] }, { ...platform, 'x-tenant-id': TENANT });
const headers = { authorization: `Bearer ${key}` };

const synced = await call('POST', '/v1/tools/sync', await load('catalog'), headers);
console.log(`\nsynced examples/catalog.json: ${synced.added.length} added, ${synced.unchanged} unchanged, ${synced.rejected.length} rejected (revision ${synced.revision})`);
const imported = await call('POST', '/v1/agents/import', await load('agents'), headers);
for (const { agentId, status, document, added } of imported.results) {
  console.log(`agent ${agentId.padEnd(15)} ${status}${document.origin === 'legacy' ? `, from an old document that now also gives ${added.length} core tools` : ''}`);
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

console.log(`\nstill serving. Swagger: ${service.url}/docs (authorise with the key below). Ask yourself:\n`);
console.log(`curl -s ${service.url}/v1/decide -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\\n  -d '{"agentId": "researcher", "context": {"scene": "chat"}, "include": ["reasons"]}'\n`);

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void service.stop().then(() => process.exit(0)));
