/** Why an agent has a tool or not: the pipeline's own run, watched. Nothing here decides. */
import type { CatalogTool } from './catalog.js';
import { refusalByExposure } from './check.js';
import type { CheckAnswer } from './decision.js';
import type { Offering, OfferingAsked } from './expose.js';
import type { Fact, Origin, Tell } from './facts.js';
import { toldSubject, toldTool } from './facts.js';
import { pendingOf } from './loading-state.js';
import type { Subject } from './pipeline.js';
import { judge } from './pipeline.js';
import type { Language, ReasonCode, Refusal, StageName } from './reason.js';
import { ALLOWED_MESSAGE, STAGES, reasonOf } from './reason.js';

export const RESULTS = ['passed', 'refused', 'not_reached'] as const;

/** What one stage said, and what it looked at to say so. */
export interface Step {
  readonly stage: StageName;
  readonly result: (typeof RESULTS)[number];
  /** There where it refused. An internal tool is told as one here: this is for admins. */
  readonly code: ReasonCode | null;
  /** Each once, in the order of reading. */
  readonly facts: readonly Fact[];
}

export interface Explanation {
  readonly agentId: string;
  readonly toolName: string;
  readonly revision: number;
  /** As check answers without arguments; the message is safe to show a model. */
  readonly verdict: Pick<CheckAnswer, 'allowed' | 'code' | 'stage' | 'message'>;
  /** Null unless stages 0 to 7 passed. */
  readonly route: CheckAnswer['route'];
  /** Every stage from `registered` to `exposure`, in order. */
  readonly trail: readonly Step[];
}

/** How the tools of the turn are offered, and what of the request said so. */
export interface ExplainParts {
  readonly asked: OfferingAsked;
  readonly offering: Offering;
}

/** The stages that a tool goes through without a call at hand. */
const TRAIL: readonly StageName[] = STAGES.filter((stage) => stage !== 'arguments');

/**
 * INVARIANT (explain tells the verdict): the verdict is that of decide and check, and the first stage that refuses in the
 * trail is the verdict's: both come out of one run.
 */
export function explain(tool: CatalogTool, subject: Subject, { asked, offering }: ExplainParts, language: Language): Explanation {
  const steps: Omit<Step, 'stage'>[] = [];
  let facts = new Map<string, Fact>();
  const tell: Tell = (fact) => void facts.set(JSON.stringify([fact.from, fact.path, fact.of]), fact);
  const watch = (refusal: Refusal | null): void => {
    steps.push({ result: refusal === null ? 'passed' : 'refused', code: refusal?.code ?? null, facts: [...facts.values()] });
    facts = new Map();
  };
  const { refusal: refused, route } = judge(toldTool(tool, tell), toldSubject(subject, tell), watch);
  const refusal = refused ?? refusalByExposure(tool, subject, offering);
  if (refused === null) {
    exposureFacts(tool, subject, { asked, offering }).forEach(tell);
    watch(refusal);
  }
  return {
    agentId: subject.agent.agentId,
    toolName: tool.name,
    revision: subject.view.revision,
    verdict: refusal === null ? { allowed: true, code: 'OK', stage: null, message: ALLOWED_MESSAGE[language] } : { allowed: false, ...reasonOf(refusal, language) },
    route,
    trail: TRAIL.map((stage, i) => ({ stage, ...(steps[i] ?? { result: 'not_reached', code: null, facts: [] }) })),
  };
}

/** What `expose` splits by, as far as it is about this tool. */
function exposureFacts(tool: CatalogTool, subject: Subject, { asked, offering }: ExplainParts): Fact[] {
  const { mode, state, limit } = offering;
  const held = asked.toolLoading === null && state !== null ? 'conversation' : 'request';
  const limits = limit === null ? [] : [factOf('request', '/format', asked.format), factOf('computed', '/definitionLimit', limit)];
  return [...modeFact(asked, offering), ...(mode === 'all' ? [] : splitFacts(tool, subject, offering, held)), ...limits];
}

const factOf = (from: Origin, path: string, value: unknown): Fact => ({ from, path, of: null, value });
const holds = (from: Origin, path: string, names: readonly string[], of: string): Fact => ({ from, path, of, value: names.includes(of) });

function splitFacts({ name, effective }: CatalogTool, { depth, view: { settings } }: Subject, { mode, state, discovered }: Offering, held: Origin): Fact[] {
  if (mode === 'deferred') return state === null ? [factOf(held, '/toolLoading', null)] : [holds(held, '/toolLoading/pending', pendingOf(state), name)];
  const target = depth === 0 && effective.role === 'delegate' ? effective.targetAgentId : null;
  return [
    holds('settings', '/alwaysInitial', settings.alwaysInitial, name),
    ...(target === null ? [] : [holds('settings', '/mainAgentInitialSubagents', settings.mainAgentInitialSubagents, target)]),
    ...(state === null ? [] : [holds(held, '/toolLoading/loaded', state.loaded, name)]),
    holds(held, '/discovered', discovered, name),
  ];
}

/** Whose word the exposure mode is: the request's, else a conversation's or a given state's by being there, else the tenant's. */
function modeFact({ exposure, toolLoading }: OfferingAsked, { mode, state }: Offering): Fact[] {
  if (exposure !== null) return [factOf('request', '/exposure', mode)];
  if (state === null) return [factOf('settings', '/defaultExposure', mode)];
  return [factOf(toolLoading === null ? 'conversation' : 'request', '/toolLoading', mode)];
}
