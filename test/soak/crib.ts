/** The tenant that a run is about: its tools, its agents, and what is asked of them. */
import type { ContextInput } from '../../src/core/request.js';
import type { Question } from './record.js';

export const AGENTS = ['lead', 'scout', 'coder', 'critic'] as const;
/** Comes and goes: readers ask nothing of it. */
export const GUEST = 'guest';

const CATEGORIES = [{ key: 'data', label: 'Data', whenToUse: 'to read data' }, { key: 'ops', label: 'Operations', whenToUse: 'to run things' }];

/** A third of them core, half of the others to be loaded on demand, some for some turns alone. */
export const TOOLS = Array.from({ length: 20 }, (_, i) => ({
  name: `tool_${i}`,
  description: `tool number ${i}`,
  isCore: i % 3 === 0,
  sort: i % 4,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  ...(i % 2 === 1 && { loadingCategory: i % 4 === 1 ? 'data' : 'ops' }),
  ...(i % 5 === 4 && { active: 'attributes.mode == "full"' }),
  ...(i === 9 && { scenes: ['chat'] }),
  ...(i === 12 && { runtime: { shell: true } }),
}));

export const DEFERRABLE = TOOLS.flatMap((tool) => ('loadingCategory' in tool ? [tool.name] : []));

const DELEGATES = AGENTS.slice(1).map((agentId) => ({ name: `ask_${agentId}`, description: 'ask another agent', role: 'delegate', targetAgentId: agentId }));

export const SYNC = { source: 'main', mode: 'full', categories: CATEGORIES, tools: [...TOOLS, ...DELEGATES] };

/** A source whose few tools change all the time. */
export const smallSync = (description: string, names: readonly string[]): object => ({ source: 'small', mode: 'full', tools: names.map((name) => ({ name, description, isCore: true })) });
export const SMALL_NAMES = ['mini_a', 'mini_b', 'mini_c'];

export const documentOf = (displayName: string, enabled: readonly string[], disabled: readonly string[]): object => ({
  displayName,
  tools: { inheritCoreTools: true, enabled, disabled },
  subagentConfig: { enabled: true, allowedPresetAgentIds: [...AGENTS, GUEST] },
});

const CONTEXTS: readonly (ContextInput | null)[] = [
  null,
  { scene: 'chat', attributes: { mode: 'full' }, session: { cwd: '/w', workspaceRoots: ['/w'], allowShell: false, readonly: false, allowNetwork: true } },
  { subagent: { parentAgentId: 'lead', depth: 1 } },
];

export const QUESTIONS: readonly Question[] = AGENTS.flatMap((agentId) => [
  ...CONTEXTS.flatMap((context): Question[] => {
    const turn = context === null ? { agentId } : { agentId, context };
    return [
      { route: '/v1/decide', body: { ...turn, include: ['reasons'] } },
      { route: '/v1/decide', body: { ...turn, exposure: 'search', include: ['tools', 'promptHints'] } },
      ...['tool_0', 'tool_4', 'tool_7', 'mini_a', 'ask_coder'].map((toolName): Question => ({ route: '/v1/check', body: { ...turn, toolName, exposure: 'all' } })),
    ];
  }),
  { route: '/v1/decide', body: { agentId } },
]);

export const inConversation = (agentId: string, conversationId: string): Question => ({ route: '/v1/decide', body: { agentId, conversationId, include: ['reasons'] } });

export const any = <T>(list: readonly T[]): T => {
  const found = list[Math.floor(Math.random() * list.length)];
  if (found === undefined) throw new Error('there is nothing to choose from');
  return found;
};

export const some = <T>(list: readonly T[], share: number): T[] => list.filter(() => Math.random() < share);
