import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PolicyView } from '../../src/core/policy-view.js';
import { applyDelta } from '../../src/core/policy-view.js';
import { check } from '../../src/core/check.js';
import { decide } from '../../src/core/decide.js';
import { normaliseDocument } from '../../src/core/agent-document.js';
import { own } from '../../src/core/json.js';
import { subjectOf, UNNARROWED } from '../../src/core/pipeline.js';
import { DEFAULT_INCLUDE, readContext } from '../../src/core/request.js';
import { DEFAULT_SETTINGS } from '../../src/core/settings.js';
import type { SyncRequest } from '../../src/core/sync-plan.js';
import { planSync } from '../../src/core/sync-plan.js';
import { LibraryEngines } from '../../src/engines/library-engines.js';
import { DEFAULT_LIMITS } from '../../src/platform/config/config.js';
import { example, mcpCatalogs, mcpSync } from '../support/catalogs.js';
import { context } from './arbitraries.js';

const engines = new LibraryEngines();
const ALL = { mode: 'all' as const, state: null, discovered: [], limit: null };
const BASE = { mode: 'full', format: 'toolcrib', namespace: null, confirmRemovals: false, categories: null };

describe('decide and check on real catalogs', () => {
  let view: PolicyView;
  beforeAll(() => {
    const syncs = [example('catalog'), ...mcpCatalogs().map(mcpSync)] as SyncRequest[];
    const tools = syncs.flatMap((sync) => {
      const plan = planSync({ ...BASE, ...sync }, { tools: new Map(), categories: [], intentDelegates: null }, { checkSchema: engines.checkSchema, checkCondition: engines.checkCondition, limits: DEFAULT_LIMITS });
      expect(plan.rejected).toEqual([]);
      return plan.declarations.map((declaration) => ({ name: declaration.name, source: sync.source, available: true, declaration, governance: {}, revision: 1 }));
    });
    const names = tools.map(({ name }) => name);
    const agents = ['assistant', 'explorer', 'reviewer', 'researcher', 'parent', 'other'].map((agentId, i) => ({
      agentId, origin: 'native' as const, legacy: null, revision: 1, updatedAt: '',
      document: normaliseDocument(agentId, {
        tools: { inheritCoreTools: i % 2 === 0, enabled: names.filter((_, at) => at % (i + 2) === 0), disabled: names.filter((_, at) => at % 7 === i) },
        subagentConfig: { enabled: i !== 1, allowedPresetAgentIds: ['explorer', 'reviewer', 'assistant'], allowedToolNames: i === 4 ? names.filter((_, at) => at % 3 !== 0) : null },
        skills: i === 0 ? [{ name: 's', entry: 'compute' }] : [],
      }),
    }));
    view = applyDelta(null, { incarnation: 'i', revision: 1, settings: DEFAULT_SETTINGS, settingsRevision: 0, complete: true, tools, categories: [], agents });
  });

  it('agree on every tool of every catalog under many contexts', () => {
    fc.assert(fc.property(context, fc.constantFrom('assistant', 'explorer', 'reviewer', 'researcher'), (given, agentId) => {
      const read = readContext(given);
      const agent = view.agents.get(agentId);
      const parent = read.subagent === null ? null : view.agents.get(read.subagent.parentAgentId);
      if (agent === undefined || parent === undefined) throw new Error('an agent is missing');
      const subject = () => subjectOf({ view, agent, parent, context: read, narrowing: UNNARROWED, evaluate: engines.evaluateCondition });
      const { toolNames, disabledReasons = {} } = decide(subject(), { offering: ALL, include: DEFAULT_INCLUDE, format: null, nativeDeferral: false }, 'en');
      const offered = new Set(toolNames);
      const asked = subject();
      for (const { name } of view.tools) {
        const { allowed, code } = check(asked, { toolName: name, offering: ALL, format: null }, engines.validateArguments, 'en');
        if (allowed !== offered.has(name) || (!allowed && code !== (own(disabledReasons, name)?.code ?? 'UNKNOWN_TOOL'))) throw new Error(`${name}: check says ${code}`);
      }
    }), { numRuns: 300 });
  });
});
