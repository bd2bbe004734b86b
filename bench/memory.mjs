import { readFileSync, readdirSync } from 'node:fs';
import { normaliseDocument } from '../dist/core/agent-document.js';
import { readDeclaration } from '../dist/core/declaration-reader.js';
import { applyDelta } from '../dist/core/policy-view.js';
import { DEFAULT_SETTINGS } from '../dist/core/settings.js';
import { withSharedParts } from '../dist/policy/shared-parts.js';
import { viewSize } from '../dist/policy/view-size.js';
import { example } from './support.mjs';

const TENANTS = 300;
const TOOLS = 100;
const AGENTS = 20;

/** As it comes out of the database: nothing is shared between records. */
const stored = (record) => JSON.parse(JSON.stringify(record));

function viewOf({ tools, format }, tenant) {
  const taken = Array.from({ length: TOOLS }, (_, i) => {
    const name = `tool_${tenant}_${i}`;
    const declaration = readDeclaration({ ...tools[(tenant * TOOLS + i) % tools.length], name }, name, { format, defaultToolset: 'default' });
    return stored({ name, source: 's', available: true, governance: {}, revision: 1, declaration });
  });
  const enabled = taken.slice(0, 20).map(({ name }) => name);
  const agents = Array.from({ length: AGENTS }, (_, i) => stored({ agentId: `a${i}`, document: normaliseDocument(`a${i}`, { tools: { enabled } }), origin: 'native', legacy: null, revision: 1, updatedAt: '' }));
  return applyDelta(null, withSharedParts({ incarnation: 'i', revision: 1, settings: DEFAULT_SETTINGS, settingsRevision: 0, complete: true, tools: taken, categories: [], agents }));
}

function heap() {
  if (!globalThis.gc) throw new Error('run with --expose-gc');
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

const SERVERS = new URL('../examples/mcp/', import.meta.url);

function weigh(catalog) {
  const before = heap();
  const views = Array.from({ length: TENANTS }, (_, tenant) => viewOf(catalog, tenant));
  const used = heap() - before;
  return { used: used / TENANTS, thought: views.reduce((sum, view) => sum + viewSize(view), 0) / TENANTS };
}

/** What views take, and what they are thought to take: the bound on the memory of a replica stands on it. */
export async function benchMemory() {
  const servers = readdirSync(SERVERS).filter((file) => file.endsWith('.json')).flatMap((file) => JSON.parse(readFileSync(new URL(file, SERVERS), 'utf8')).tools ?? []);
  const catalogs = {
    terse: { tools: [{ description: 'does one thing' }], format: 'toolcrib' },
    examples: { tools: example('catalog').tools.map((tool) => ({ ...tool, loadingCategory: null })), format: 'toolcrib' },
    'MCP servers': { tools: servers, format: 'mcp' },
  };
  for (const [name, catalog] of Object.entries(catalogs)) {
    const { used, thought } = weigh(catalog);
    console.log(`${name}: a view of ${TOOLS} tools and ${AGENTS} agents takes ${Math.round(used / 1024)} kB, thought to be ${Math.round(thought / 1024)} kB`);
  }
}
