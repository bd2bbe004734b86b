/**
 * The pipeline: one function a stage, in a fixed order, the first refusal wins (semantics, section 2).
 * Every question about a tool is answered by {@link judge}; there is no second place.
 */
import type { Capability, CatalogTool, RoutingStrategy, RuntimeProfile } from './catalog.js';
import { comesByDefault, isInternal, profileOf } from './catalog.js';
import type { ConditionFacts, EvaluateCondition } from './engines.js';
import type { KnownAgents, PolicyAgent, PolicyView } from './policy-view.js';
import { effectiveTargets } from './policy-view.js';
import type { Refusal } from './reason.js';
import { PARENT_SUBAGENTS_OFF, refuse } from './reason.js';
import type { DecideContext, View } from './request.js';
import type { Route, SessionFacts } from './route.js';
import { routeOf, sessionFacts } from './route.js';

/** An agent with the agents that it may start: all that its own lists are judged by. */
export interface AgentSubject {
  readonly agent: PolicyAgent;
  readonly targets: ReadonlySet<string>;
}

/** What governance and configuration are judged by, whatever the turn. */
export interface ConfigurationSubject extends AgentSubject {
  readonly view: PolicyView;
  /** The agent that started this one; null for a main agent. */
  readonly parent: PolicyAgent | null;
  /** 0 for a main agent. */
  readonly depth: number;
  readonly isPresetOfParent: boolean;
  /** The parent in its own right, where a child may not exceed it; else null. */
  readonly parentAsMain: ConfigurationSubject | null;
}

/** For whom and in what context it is decided; the same for every tool of one request. */
export interface Subject extends ConfigurationSubject {
  readonly context: DecideContext;
  readonly session: SessionFacts | null;
  readonly shows: View;
  readonly selected: ReadonlySet<string> | null;
  readonly facts: ConditionFacts;
  readonly evaluate: EvaluateCondition;
}

/** What of a subject the verdicts are told with. Of the turn's context that is `operations` alone: the rest has its say in the verdicts. */
export interface ToldSubject extends Pick<Subject, 'view' | 'agent' | 'targets' | 'depth' | 'shows' | 'selected'> {
  readonly context: Pick<DecideContext, 'operations'>;
}

export interface Verdict {
  readonly tool: CatalogTool;
  /** Null when the tool passes every stage. */
  readonly refusal: Refusal | null;
  /** Null unless stages 0 to 7 passed: then the tool is allowed by configuration. */
  readonly route: Route | null;
}

/** Null lets the tool on to the next stage. */
export type Stage<Judged = Subject> = (tool: CatalogTool, subject: Judged) => Refusal | null;

const pass = null;

/** Stage 0: internal tools and those that their source took back. A name that is not registered never gets here. */
const registeredStage: Stage<unknown> = (tool) => {
  if (isInternal(tool)) return refuse('INTERNAL_TOOL');
  return tool.record.available ? pass : refuse('TOOL_UNAVAILABLE');
};

/** Stage 1: the global stop beats everything below. */
export const globalStage: Stage<unknown> = ({ effective }) => (effective.status === 'disabled' ? refuse('GLOBALLY_DISABLED') : pass);

/** Stage 2: core tools by inheritance, others by name, delegates by their target and by nothing else. */
export const grantStage: Stage<AgentSubject> = (tool, { agent, targets }) => {
  const { effective, name } = tool;
  if (effective.role === 'delegate') {
    if (!agent.subagentsOn) return refuse('SUBAGENTS_OFF');
    return effective.targetAgentId !== null && targets.has(effective.targetAgentId) ? pass : refuse('TARGET_NOT_AVAILABLE');
  }
  if (comesByDefault(effective, agent.inheritsCore) || agent.enabled.has(name)) return pass;
  return refuse(effective.isCore ? 'CORE_NOT_INHERITED' : 'NOT_ENABLED');
};

/** Stage 3: the agent's own closing of a tool. Deny beats allow; locked tools cannot be closed. */
export const agentStage: Stage<AgentSubject> = ({ name, locked }, { agent }) => (agent.disabled.has(name) && !locked ? refuse('AGENT_DISABLED') : pass);

/** Stage 4: ceilings, which only narrow and bind locked tools too. */
export const boundaryStage: Stage<ConfigurationSubject> = (tool, subject) => {
  const { availableTools } = subject.agent;
  if (availableTools !== null && !availableTools.has(tool.name)) return refuse('OUTSIDE_AVAILABLE_TOOLS');
  return parentCeiling(tool, subject) ?? depthCeiling(tool, subject);
};

function parentCeiling(tool: CatalogTool, subject: ConfigurationSubject): Refusal | null {
  const { parent } = subject;
  if (parent === null) return pass;
  if (!parent.subagentsOn) return PARENT_SUBAGENTS_OFF;
  if (!subject.isPresetOfParent) return refuse('SUBAGENT_NOT_PRESET');
  if (!allowedInSubagents(tool, parent)) return refuse('SUBAGENT_TOOL_NOT_ALLOWED');
  if (parent.subagentTools !== null && !parent.subagentTools.has(tool.name)) return refuse('OUTSIDE_SUBAGENT_TOOLS');
  if (subject.parentAsMain !== null && refusalByConfiguration(tool, subject.parentAsMain) !== null) return refuse('PARENT_LACKS_TOOL');
  return pass;
}

/** By the tool's effective `allowInSubagent`, which a parent can narrow and never widen. */
const allowedInSubagents = ({ name, effective }: CatalogTool, parent: PolicyAgent): boolean =>
  effective.extra.allowInSubagent && parent.overrides.get(name)?.extra?.allowInSubagent !== false;

/** For an agent as a parent: whether its sub-agents could be given the tool. */
export const subagentMayUse = (tool: CatalogTool, parent: PolicyAgent): boolean =>
  parent.subagentsOn && tool.effective.status === 'enabled' && allowedInSubagents(tool, parent) && (parent.subagentTools === null || parent.subagentTools.has(tool.name));

function depthCeiling({ effective: { role } }: CatalogTool, { depth, targets, view }: ConfigurationSubject): Refusal | null {
  if (role === 'ordinary') return pass;
  if (depth >= view.settings.maxSubagentDepth) return refuse('DEPTH_EXCEEDED');
  return role === 'spawn' && targets.size === 0 ? refuse('NO_SPAWN_TARGETS') : pass;
}

/** Stage 5: what the model must be able to take in. No model means text only. */
const capabilityStage: Stage = ({ effective }, { context }) =>
  modelHas(effective.capability, context.capabilities ?? []) ? pass : refuse('MODEL_LACKS_CAPABILITY');

function modelHas(needed: Capability, capabilities: readonly string[]): boolean {
  if (needed === 'text') return true;
  return capabilities.includes('multimodal') || (needed === 'vision' && capabilities.includes('vision'));
}

/** Stage 6: null fits every scene, an empty list none, and no scene given fits only null. */
const sceneStage: Stage = ({ effective: { scenes } }, { context: { scene } }) =>
  scenes === null || (scene !== null && scenes.includes(scene)) ? pass : refuse('SCENE_MISMATCH');

/** Stage 7: the tool's own condition, its bound skill, then the view and the selection that the request asks for. */
const activationStage: Stage = ({ name, effective }, { agent, evaluate, facts, shows, selected }) => {
  const { active, requiresSkillEntry, intent } = effective;
  const holds = (condition: string | null): boolean => condition === null || evaluate(condition, facts);
  if (!holds(active)) return refuse('INACTIVE');
  if (requiresSkillEntry !== null && !agent.skillEntries.has(requiresSkillEntry)) return refuse('SKILL_NOT_BOUND');
  if (shows === 'intent' && (intent === null || !holds(intent.when))) return refuse('NOT_AN_INTENT');
  return selected !== null && !selected.has(name) ? refuse('NOT_SELECTED') : pass;
};

/** Stages 0 to 4: what governance and configuration say, whatever the turn's context. */
const CONFIGURATION_STAGES: readonly Stage<ConfigurationSubject>[] = [registeredStage, globalStage, grantStage, agentStage, boundaryStage];
const CONTEXT_STAGES: readonly Stage[] = [capabilityStage, sceneStage, activationStage];

/** Told each stage's word as it falls, from stage 0 on. */
export type Watch = (refusal: Refusal | null) => void;

function firstRefusal<Judged>(stages: readonly Stage<Judged>[], tool: CatalogTool, subject: Judged, watch?: Watch): Refusal | null {
  for (const stage of stages) {
    const refusal = stage(tool, subject);
    watch?.(refusal);
    if (refusal !== null) return refusal;
  }
  return pass;
}

/** The first refusal of the stages 0 to 4. */
export const refusalByConfiguration = (tool: CatalogTool, subject: ConfigurationSubject, watch?: Watch): Refusal | null => firstRefusal(CONFIGURATION_STAGES, tool, subject, watch);

/**
 * Runs the whole pipeline for one tool. `watch` sees the run and has no part in it.
 *
 * INVARIANT (narrowing): a name added to `disabled`, a smaller ceiling, a global stop, or (without conditions) a model that
 * can do less never lets a tool through that was refused before.
 */
export function judge(tool: CatalogTool, subject: Subject, watch?: Watch): Verdict {
  const refusal = refusalByConfiguration(tool, subject, watch) ?? firstRefusal(CONTEXT_STAGES, tool, subject, watch);
  if (refusal !== null) return { tool, refusal, route: null };
  const route = routeOf(tool, strategyOf(tool, subject.agent), subject.session);
  const blocked = route.blockedReasons[0];
  const last = blocked === undefined ? pass : refuse(blocked);
  watch?.(last);
  return { tool, refusal: last, route };
}

/** Agent over governance over declaration. */
const strategyOf = ({ name, effective }: CatalogTool, agent: PolicyAgent): RoutingStrategy =>
  agent.overrides.get(name)?.extra?.workerRoutingStrategy ?? effective.extra.workerRoutingStrategy;

export function profileFor(tool: CatalogTool, agent: PolicyAgent): RuntimeProfile {
  const strategy = strategyOf(tool, agent);
  return strategy === tool.profile.workerRoutingStrategy ? tool.profile : profileOf(tool.effective, strategy);
}

/** What a request narrows beyond its context. */
export interface Narrowing {
  readonly view: View;
  readonly select: readonly string[] | null;
}

export const UNNARROWED: Narrowing = { view: 'all', select: null };

export interface SubjectParts {
  readonly view: PolicyView;
  readonly agent: PolicyAgent;
  readonly parent: PolicyAgent | null;
  readonly context: DecideContext;
  readonly narrowing: Narrowing;
  readonly evaluate: EvaluateCondition;
}

/** An agent and its targets, the agents being those that are there. */
export const agentSubject = (agents: KnownAgents, agent: PolicyAgent): AgentSubject => ({ agent, targets: new Set(effectiveTargets(agents, agent)) });

/** An agent that nobody started. */
export const asMainAgent = (view: PolicyView, agent: PolicyAgent): ConfigurationSubject =>
  ({ ...agentSubject(view.agents, agent), view, parent: null, depth: 0, isPresetOfParent: false, parentAsMain: null });

export const subjectOf = ({ agent, ...turn }: SubjectParts): Subject => subjectsOf(turn)(agent);

/** The subjects of one turn for one agent after another: what does not depend on the agent is made once. */
export function subjectsOf(turn: Omit<SubjectParts, 'agent'>): (agent: PolicyAgent) => Subject {
  const { view, parent, context, narrowing, evaluate } = turn;
  const depth = parent === null ? 0 : (context.subagent?.depth ?? 0);
  const presets = parent === null ? null : new Set(effectiveTargets(view.agents, parent));
  const parentAsMain = parent !== null && view.settings.childWithinParent ? asMainAgent(view, parent) : null;
  const session = context.session && sessionFacts(context.session);
  const selected = narrowing.select && new Set(narrowing.select);
  const facts = factsOf(context, depth);
  // Written out: a spread costs more than all the rest, on every decision.
  return (agent) => ({
    view,
    agent,
    parent,
    depth,
    targets: new Set(effectiveTargets(view.agents, agent)),
    isPresetOfParent: presets?.has(agent.agentId) ?? false,
    parentAsMain,
    context,
    session,
    shows: narrowing.view,
    selected,
    facts,
    evaluate,
  });
}

const factsOf = ({ attributes, scene, capabilities }: DecideContext, depth: number): ConditionFacts => ({
  attributes,
  depth,
  ...(scene === null ? {} : { scene }),
  model: capabilities === null ? {} : { capabilities },
});
