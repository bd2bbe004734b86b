import { normaliseDocument } from '../dist/core/agent-document.js';
import { readDeclaration } from '../dist/core/declaration-reader.js';
import { toolsMovedBy } from '../dist/core/impact.js';
import { applyDelta } from '../dist/core/policy-view.js';
import { viewWith } from '../dist/core/preview.js';
import { readContext } from '../dist/core/request.js';
import { DEFAULT_SETTINGS } from '../dist/core/settings.js';
import { LibraryEngines } from '../dist/engines/library-engines.js';
import { DEFAULT_LIMITS } from '../dist/platform/config/config.js';
import { Impacts } from '../dist/policy/impacts.js';
import { TURN, manyTools, median } from './support.mjs';

/** 2,000 agents that each have some of 500 tools, and a lead that may start any of the first. */
function viewOf() {
  const tools = manyTools(500).map((tool) => ({
    name: tool.name, source: 's', available: true, governance: {}, revision: 1,
    declaration: readDeclaration(tool, tool.name, { format: 'toolcrib', defaultToolset: 'default' }),
  }));
  const agents = Array.from({ length: 2_000 }, (_, i) => {
    const agentId = `agent-${i}`;
    const enabled = tools.filter((__, at) => (at + i) % 3 === 0).map(({ name }) => name);
    const subagentConfig = i === 0 ? { enabled: true, allowedPresetAgentIds: Array.from({ length: 1_000 }, (__, at) => `agent-${at}`) } : {};
    return { agentId, document: normaliseDocument(agentId, { tools: { enabled }, subagentConfig }), origin: 'native', legacy: null, revision: 1, updatedAt: '' };
  });
  return applyDelta(null, { incarnation: 'i', revision: 1, settings: DEFAULT_SETTINGS, settingsRevision: 0, complete: true, tools, categories: [], agents });
}

/** What a patch of a tool and one of the settings would do to all agents, and how long others wait meanwhile. */
export async function benchImpact() {
  const now = viewOf();
  const impacts = new Impacts(new LibraryEngines(), DEFAULT_LIMITS);
  const tool = now.byName.get('web_search');
  const settings = { ...DEFAULT_SETTINGS, childWithinParent: true, maxSubagentDepth: 0 };
  const child = readContext({ ...TURN, subagent: { parentAgentId: 'agent-0', depth: 1 } });
  const moved = (context) => toolsMovedBy(now.settings, settings, context, now.tools);
  await bench('a tool stopped', { now, then: viewWith(now, { tools: [{ ...tool.record, governance: { status: 'disabled' } }] }), movable: () => [tool] }, readContext(TURN));
  await bench('settings, main agents', { now, then: viewWith(now, { settings }), movable: moved }, readContext(TURN));
  await bench('settings, sub-agents', { now, then: viewWith(now, { settings }), movable: moved }, child);

  async function bench(name, sides, context) {
    const samples = [];
    let [longest, last] = [0, performance.now()];
    const beat = setInterval(() => { longest = Math.max(longest, performance.now() - last); last = performance.now(); }, 1);
    for (let i = 0; i < 5; i += 1) {
      const start = performance.now();
      await impacts.of(sides, [context]);
      samples.push(performance.now() - start);
    }
    clearInterval(beat);
    console.log(`impact on 2000 agents x 500 tools, ${name}: ${median(samples).toFixed(0)} ms, others wait ${longest.toFixed(0)} ms at the most`);
  }
}
