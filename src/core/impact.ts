/** What saving would do to every agent: who would gain or lose which tools, and why. Nothing is saved. */
import type { CatalogTool } from './catalog.js';
import type { EvaluateCondition } from './engines.js';
import type { Subject } from './pipeline.js';
import { UNNARROWED, judge, subjectsOf } from './pipeline.js';
import type { PolicyAgent, PolicyView } from './policy-view.js';
import type { ReasonCode } from './reason.js';
import type { DecideContext } from './request.js';
import type { Settings } from './settings.js';

export const CHANGES = ['gained', 'lost'] as const;

/** Tools of one agent that change alike in one context. */
export interface ToolsChanged {
  /** Which of the contexts that were asked about. */
  readonly context: number;
  readonly change: (typeof CHANGES)[number];
  /** The primary reason now, or `OK`. */
  readonly now: ReasonCode | 'OK';
  /** The same after the save. */
  readonly then: ReasonCode | 'OK';
  /** By (`sort`, `name`). */
  readonly tools: readonly string[];
}

export interface AgentImpact {
  readonly agentId: string;
  readonly changes: readonly ToolsChanged[];
}

/** One context that is asked about, on both sides of the save, with the tools that can fare otherwise in it. */
export interface Asked {
  readonly tools: readonly CatalogTool[];
  readonly now: (agent: PolicyAgent) => Subject;
  readonly then: (agent: PolicyAgent) => Subject;
}

/** The two sides differ in tools or settings, not in their agents. `parent` is null for a main agent. */
export interface AskedParts {
  readonly now: PolicyView;
  readonly then: PolicyView;
  readonly tools: readonly CatalogTool[];
  readonly context: DecideContext;
  readonly parent: PolicyAgent | null;
  readonly evaluate: EvaluateCondition;
}

export function askedOf({ now, then, tools, evaluate, ...turn }: AskedParts): Asked {
  const parts = { ...turn, narrowing: UNNARROWED, evaluate: remembering(evaluate) };
  return { tools, now: subjectsOf({ ...parts, view: now }), then: subjectsOf({ ...parts, view: then }) };
}

/** A condition sees the context and no agent: within one context, once is enough. */
function remembering(evaluate: EvaluateCondition): EvaluateCondition {
  const known = new Map<string, boolean>();
  return (expression, facts) => {
    const holds = known.get(expression) ?? evaluate(expression, facts);
    known.set(expression, holds);
    return holds;
  };
}

/**
 * The tools that may fare otherwise under other settings: `childWithinParent` speaks of sub-agents alone, and the greatest
 * depth of delegates and spawning. Every other setting is about exposure, sync or retention, and grants nothing.
 */
export function toolsMovedBy(before: Settings, after: Settings, { subagent }: DecideContext, tools: readonly CatalogTool[]): readonly CatalogTool[] {
  if (subagent !== null && before.childWithinParent !== after.childWithinParent) return tools;
  return before.maxSubagentDepth === after.maxSubagentDepth ? [] : tools.filter(({ effective }) => effective.role !== 'ordinary');
}

/**
 * What one agent gains and loses.
 *
 * INVARIANT (impact is decide twice): a tool is gained where decide has it after the save and not now, lost where it has it now
 * and not then, and told with the reasons of the two.
 */
export function impactOn(agent: PolicyAgent, asked: readonly Asked[]): AgentImpact {
  return { agentId: agent.agentId, changes: asked.flatMap((one, context) => changesIn(agent, one).map((change) => ({ context, ...change }))) };
}

function changesIn(agent: PolicyAgent, asked: Asked): Omit<ToolsChanged, 'context'>[] {
  if (asked.tools.length === 0) return [];
  const [before, after] = [asked.now(agent), asked.then(agent)];
  // Whom the parent may not start has nothing on either side.
  if (before.parent !== null && !before.isPresetOfParent) return [];
  const groups = new Map<string, Omit<ToolsChanged, 'context'> & { readonly tools: string[] }>();
  for (const { name } of asked.tools) {
    const [was, will] = [codeFor(name, before), codeFor(name, after)];
    if ((was === 'OK') === (will === 'OK')) continue;
    const key = `${was} ${will}`;
    const group = groups.get(key) ?? { change: will === 'OK' ? 'gained' as const : 'lost' as const, now: was, then: will, tools: [] };
    group.tools.push(name);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function codeFor(name: string, subject: Subject): ReasonCode | 'OK' {
  const tool = subject.view.byName.get(name);
  return tool === undefined ? 'UNKNOWN_TOOL' : (judge(tool, subject).refusal?.code ?? 'OK');
}

/** How many agents gain or lose a tool. */
export interface ToolCount {
  readonly toolName: string;
  readonly gained: number;
  readonly lost: number;
}

export interface Impact {
  readonly revision: number;
  /** Of all agents: how many there are, how many change at all, and how many gain and lose something. */
  readonly counts: { readonly agents: number; readonly changed: number; readonly gained: number; readonly lost: number };
  /** In the tools' order; in whichever context. */
  readonly tools: readonly ToolCount[];
  /** The first that change, by `agentId`. */
  readonly agents: readonly AgentImpact[];
}

/** How many agents are told in full, and how many names in all of them: what is beyond is counted alone. */
const TOLD = { agents: 200, names: 200_000 } as const;

/** Adds up what agents gain and lose, in the order in which they are told. */
export class ImpactCounts {
  private readonly told: AgentImpact[] = [];
  private readonly byTool = new Map<string, { gained: number; lost: number }>();
  private readonly counts = { agents: 0, changed: 0, gained: 0, lost: 0 };
  private names = 0;

  add(impact: AgentImpact): void {
    this.counts.agents += 1;
    if (impact.changes.length === 0) return;
    this.counts.changed += 1;
    for (const change of CHANGES) this.count(change, new Set(impact.changes.filter((one) => one.change === change).flatMap(({ tools }) => tools)));
    if (this.told.length >= TOLD.agents || this.names > TOLD.names) return;
    this.told.push(impact);
    this.names += impact.changes.reduce((sum, { tools }) => sum + tools.length, 0);
  }

  result({ revision, tools }: PolicyView): Impact {
    const counted = tools.flatMap(({ name }) => {
      const count = this.byTool.get(name);
      return count === undefined ? [] : [{ toolName: name, ...count }];
    });
    return { revision, counts: { ...this.counts }, tools: counted, agents: this.told };
  }

  private count(change: (typeof CHANGES)[number], names: ReadonlySet<string>): void {
    if (names.size > 0) this.counts[change] += 1;
    for (const name of names) {
      const count = this.byTool.get(name) ?? { gained: 0, lost: 0 };
      count[change] += 1;
      this.byTool.set(name, count);
    }
  }
}
