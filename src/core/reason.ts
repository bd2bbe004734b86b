/** Why a tool is not offered or not callable: the codes, the stage that gives each, and what a model may be told. */

export const STAGES = [
  'registered', 'global', 'grant', 'agent', 'boundary', 'capability', 'scene', 'activation', 'runtime', 'exposure', 'arguments',
] as const;
export type StageName = (typeof STAGES)[number];

export type Language = 'en' | 'zh';

/** One message in every language. */
export type Words = Readonly<Record<Language, string>>;

interface ReasonEntry extends Words {
  readonly stage: StageName;
}

/** In the order of the stage table (semantics, section 2), which also breaks ties between equally common reasons. */
export const REASONS = {
  UNKNOWN_TOOL: { stage: 'registered', en: 'there is no such tool', zh: '没有这个工具' },
  INTERNAL_TOOL: { stage: 'registered', en: 'there is no such tool', zh: '没有这个工具' },
  TOOL_UNAVAILABLE: { stage: 'registered', en: 'the tool is not available at present: its source no longer declares it', zh: '该工具目前不可用：其来源已不再声明它' },
  GLOBALLY_DISABLED: { stage: 'global', en: 'the tool is stopped for every agent', zh: '该工具已全局停用' },
  NOT_ENABLED: { stage: 'grant', en: 'the tool is not enabled for this agent', zh: '该工具未对当前 Agent 启用' },
  CORE_NOT_INHERITED: { stage: 'grant', en: 'this agent does not inherit the core tools', zh: '当前 Agent 不继承核心工具' },
  SUBAGENTS_OFF: { stage: 'grant', en: 'sub-agents are off for this agent', zh: '当前 Agent 未开启子 Agent' },
  TARGET_NOT_AVAILABLE: { stage: 'grant', en: 'the agent behind this tool is not available to this agent', zh: '该工具对应的目标 Agent 不可用' },
  AGENT_DISABLED: { stage: 'agent', en: 'the tool is closed for this agent', zh: '该工具已为当前 Agent 关闭' },
  OUTSIDE_AVAILABLE_TOOLS: { stage: 'boundary', en: 'the tool is outside what this agent may have', zh: '该工具不在当前 Agent 的可用范围内' },
  SUBAGENT_NOT_PRESET: { stage: 'boundary', en: 'the parent agent does not list this agent as a sub-agent', zh: '父 Agent 未将当前 Agent 列为子 Agent' },
  SUBAGENT_TOOL_NOT_ALLOWED: { stage: 'boundary', en: 'the tool is not allowed in sub-agents', zh: '该工具不允许在子 Agent 中使用' },
  OUTSIDE_SUBAGENT_TOOLS: { stage: 'boundary', en: 'the tool is outside what the parent agent lets its sub-agents use', zh: '该工具不在父 Agent 允许子 Agent 使用的范围内' },
  PARENT_LACKS_TOOL: { stage: 'boundary', en: 'the parent agent does not have this tool itself', zh: '父 Agent 自身没有该工具' },
  DEPTH_EXCEEDED: { stage: 'boundary', en: 'no further sub-agents may be started at this depth', zh: '已达到子 Agent 的最大层级' },
  NO_SPAWN_TARGETS: { stage: 'boundary', en: 'there is no agent that this agent may start', zh: '没有可由当前 Agent 启动的 Agent' },
  MODEL_LACKS_CAPABILITY: { stage: 'capability', en: 'the model lacks the capability that this tool needs', zh: '模型不具备该工具所需的能力' },
  SCENE_MISMATCH: { stage: 'scene', en: 'the tool is not meant for this scene', zh: '该工具不适用于当前场景' },
  INACTIVE: { stage: 'activation', en: 'the condition of this tool does not hold now', zh: '该工具的启用条件当前不成立' },
  SKILL_NOT_BOUND: { stage: 'activation', en: 'this agent has no bound skill of the kind that this tool needs', zh: '当前 Agent 未绑定该工具所需类型的技能' },
  NOT_AN_INTENT: { stage: 'activation', en: 'the tool takes no part in intent recognition now', zh: '该工具当前不参与意图识别' },
  NOT_SELECTED: { stage: 'activation', en: 'the tool is not among the selected ones', zh: '该工具不在所选工具之中' },
  SHELL_NOT_ALLOWED: { stage: 'runtime', en: 'this session does not allow a shell', zh: '当前会话不允许使用 shell' },
  READONLY_SESSION: { stage: 'runtime', en: 'this session is read-only', zh: '当前会话为只读' },
  NO_WORKSPACE: { stage: 'runtime', en: 'this session has no workspace', zh: '当前会话没有工作区' },
  CWD_OUTSIDE_WORKSPACE: { stage: 'runtime', en: 'the working directory is outside the workspace', zh: '工作目录不在工作区内' },
  NETWORK_NOT_ALLOWED: { stage: 'runtime', en: 'this session does not allow the network', zh: '当前会话不允许访问网络' },
  ROUTING_DISABLED: { stage: 'runtime', en: 'the tool is routed nowhere', zh: '该工具被设为不在任何位置运行' },
  TOOL_NOT_LOADED: { stage: 'exposure', en: 'the tool is not loaded: call `load_tools` with its name first', zh: '该工具尚未加载：请先用其名称调用 `load_tools`' },
  TARGET_NOT_ALLOWED: { stage: 'arguments', en: 'the agent named in the arguments may not be started by this agent', zh: '参数中指定的 Agent 不允许由当前 Agent 启动' },
  INVALID_ARGUMENTS: { stage: 'arguments', en: 'the arguments do not fit the schema of the tool', zh: '参数不符合该工具的参数结构' },
} as const satisfies Record<string, ReasonEntry>;

export type ReasonCode = keyof typeof REASONS;

/** One stage's "no". There is one object for each code and stage, so refusals compare by identity. */
export interface Refusal {
  readonly code: ReasonCode;
  readonly stage: StageName;
}

/** A refusal as it is answered; the message is safe to show a model. */
export interface Reason extends Refusal {
  readonly message: string;
}

const refusals = new Map<ReasonCode, Refusal>(
  Object.entries(REASONS).map(([code, { stage }]) => [code as ReasonCode, { code: code as ReasonCode, stage }]),
);

export function refuse(code: ReasonCode): Refusal {
  const refusal = refusals.get(code);
  if (refusal === undefined) throw new Error(`no reason ${code}`);
  return refusal;
}

/** The parent's sub-agents are off: the same code as for one's own, told at the boundary and in other words. */
export const PARENT_SUBAGENTS_OFF: Refusal = { code: 'SUBAGENTS_OFF', stage: 'boundary' };

/** Not loaded, where the loader is the search. */
export const NOT_FOUND_YET: Refusal = { code: 'TOOL_NOT_LOADED', stage: 'exposure' };

/** Refusals in other words than those of their code. */
const OTHER_WORDS = new Map<Refusal, Words>([
  [PARENT_SUBAGENTS_OFF, { en: 'sub-agents are off for the parent agent', zh: '父 Agent 未开启子 Agent' }],
  [NOT_FOUND_YET, { en: 'the tool is not loaded: call `tool_search` to find it first', zh: '该工具尚未加载：请先调用 `tool_search` 找到它' }],
]);

export const wordsOf = (refusal: Refusal): Words => OTHER_WORDS.get(refusal) ?? REASONS[refusal.code];

const say = (refusal: Refusal, language: Language): Reason => ({ code: refusal.code, stage: refusal.stage, message: wordsOf(refusal)[language] });

const inEvery = (language: Language): Map<Refusal, Reason> =>
  new Map([...refusals.values(), ...OTHER_WORDS.keys()].map((refusal) => [refusal, say(refusal, language)]));

const spoken = { en: inEvery('en'), zh: inEvery('zh') };

/** The refusal in words. An internal tool answers exactly as an unknown one. */
export function reasonOf(refusal: Refusal, language: Language): Reason {
  const told = refusal.code === 'INTERNAL_TOOL' ? refuse('UNKNOWN_TOOL') : refusal;
  return spoken[language].get(told) ?? say(told, language);
}

export const ALLOWED_MESSAGE: Words = { en: 'the tool may be called', zh: '可以调用该工具' };

const ranks = new Map(Object.keys(REASONS).map((code, rank) => [code as ReasonCode, rank]));

/** The commonest code; ties go to the earlier stage, then to the order of the stage table. Null for an empty list. */
export function commonest(codes: Iterable<ReasonCode>): ReasonCode | null {
  const counts = new Map<ReasonCode, number>();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  const ranked = [...counts].sort(([a, m], [b, n]) => n - m || (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  return ranked[0]?.[0] ?? null;
}
