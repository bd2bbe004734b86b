import { normaliseDocument } from '../dist/core/agent-document.js';
import { check } from '../dist/core/check.js';
import { decide } from '../dist/core/decide.js';
import { readDeclaration } from '../dist/core/declaration-reader.js';
import { editorView } from '../dist/core/editor-view.js';
import { UNNARROWED, subjectOf } from '../dist/core/pipeline.js';
import { applyDelta } from '../dist/core/policy-view.js';
import { DEFAULT_INCLUDE, readContext } from '../dist/core/request.js';
import { DEFAULT_SETTINGS } from '../dist/core/settings.js';
import { validateArguments } from '../dist/engines/ajv-schema.engine.js';
import { evaluateCondition } from '../dist/engines/cel-condition.engine.js';
import { TURN, manyTools, microseconds } from './support.mjs';

/** A tenant with `count` tools and one agent that has half of them. */
function viewOf(count) {
  const tools = manyTools(count).map((tool) => ({
    name: tool.name, source: 's', available: true, governance: {}, revision: 1,
    declaration: readDeclaration(tool, tool.name, { format: 'toolcrib', defaultToolset: 'default' }),
  }));
  const document = normaliseDocument('a', { tools: { enabled: tools.filter((_, i) => i % 2 === 1).map(({ name }) => name) } });
  const agents = [{ agentId: 'a', document, origin: 'native', legacy: null, revision: 1, updatedAt: '' }];
  return applyDelta(null, { incarnation: 'i', revision: 1, settings: DEFAULT_SETTINGS, settingsRevision: 0, complete: true, tools, categories: [], agents });
}

const subjectIn = (view) => subjectOf({ view, agent: view.agents.get('a'), parent: null, context: readContext(TURN), narrowing: UNNARROWED, evaluate: evaluateCondition });

const AT_ONCE = { mode: 'all', state: null, discovered: [], limit: null };

/** One decide and one check in process, conditions included, without JSON. */
export async function benchCore() {
  for (const count of [50, 500, 5_000]) {
    const view = viewOf(count);
    const us = microseconds(() => decide(subjectIn(view), { offering: AT_ONCE, include: DEFAULT_INCLUDE, format: null, nativeDeferral: false }, 'en'), Math.ceil(100_000 / count));
    console.log(`decide, ${String(count).padStart(4)} tools: ${us.toFixed(1)} µs, ${((us * 1000) / count).toFixed(0)} ns a tool`);
  }
  for (const count of [500, 5_000]) {
    const edited = viewOf(count);
    const took = microseconds(() => editorView(edited, edited.agents.get('a'), {}, 'zh'), Math.ceil(100_000 / count));
    console.log(`editor view, ${String(count).padStart(4)} tools: ${(took / 1000).toFixed(2)} ms`);
  }
  const view = viewOf(5_000);
  const us = microseconds(() => check(subjectIn(view), { offering: AT_ONCE, format: null, toolName: 'web_search', arguments: { query: 'tool policy' } }, validateArguments, 'en'), 2_000);
  console.log(`check with arguments, one of 5000 tools: ${us.toFixed(1)} µs`);
}
