/** One decide call: every tool is judged once, and the answer is read off the verdicts. */
import { grantedState } from './agent-state.js';
import type { CatalogTool } from './catalog.js';
import { isInternal } from './catalog.js';
import type { DecidedTool, Decision, PromptHint } from './decision.js';
import { descriptionFor, labelFor } from './definition.js';
import { diagnosticOf } from './diagnostic.js';
import type { Offering } from './expose.js';
import { expose } from './expose.js';
import { emptyNameMap } from './json.js';
import type { NameMap } from './json.js';
import { toolLoadingOf } from './loading-state.js';
import type { Subject, ToldSubject, Verdict } from './pipeline.js';
import { judge, profileFor, subagentMayUse } from './pipeline.js';
import type { Presentation } from './present.js';
import { present } from './present.js';
import type { Language, Reason } from './reason.js';
import { commonest, reasonOf, refuse } from './reason.js';
import type { Include } from './request.js';
import type { Route } from './route.js';

type Routed = Verdict & { readonly route: Route };

const passed = ({ refusal }: Verdict): boolean => refusal === null;
const isRouted = (verdict: Verdict): verdict is Routed => verdict.route !== null;

const namesOf = (tools: readonly CatalogTool[]): string[] => tools.map(({ name }) => name);

/** Every tool that the agent has in this turn, by (`sort`, `name`). */
export const offeredTools = (subject: Subject): CatalogTool[] => subject.view.tools.filter((tool) => passed(judge(tool, subject)));

/** What of a request enters its decision beside its subject. */
export interface DecideParts extends Presentation {
  readonly offering: Offering;
  readonly include: ReadonlySet<Include>;
}

/** Every tool judged for one subject, in the order of the view: all that the answer is read off. */
export interface Judgement {
  readonly subject: ToldSubject;
  readonly verdicts: readonly Verdict[];
}

export const judgeAll = (subject: Subject): Judgement => ({ subject, verdicts: subject.view.tools.map((tool) => judge(tool, subject)) });

/** Whether no tool at all enters the runtime. */
export const offersNothing = ({ verdicts }: Judgement): boolean => !verdicts.some(passed);

/**
 * Decides for the subject. How tools are offered and presented, and what of the answer is included, never says what is
 * allowed.
 *
 * INVARIANT (partition): `initialTools` and `searchableTools` are disjoint and together `toolNames`; those are among
 * `allowedTools`, and those in the catalog.
 * INVARIANT (one reason): every registered, non-internal tool is in `toolNames` or has exactly one primary reason.
 * INVARIANT (same input, same bytes): the order in which tools were synced has no meaning.
 * INVARIANT (whitelists grant nothing): the settings' whitelists never change `toolNames`.
 */
export const decide = (subject: Subject, parts: DecideParts, language: Language): Decision => tell(judgeAll(subject), parts, language);

/** The answer as it is read off the verdicts. Whatever it reads stands in `outcomeOf` as well. */
export function tell({ subject, verdicts }: Judgement, { offering, include, ...presentation }: DecideParts, language: Language): Decision {
  const allowed = verdicts.filter(isRouted);
  const offered = allowed.filter(passed).map(({ tool }) => tool);
  const toolNames = namesOf(offered);
  const exposed = expose(offered, subject, offering);
  const { definitions, nameMap, warnings } = present(exposed, subject, presentation, include.has('definitions'));
  return {
    agentId: subject.agent.agentId,
    revision: subject.view.revision,
    allowedTools: allowed.map(({ tool }) => tool.name),
    toolNames,
    initialTools: exposed.initialTools === offered ? toolNames : namesOf(exposed.initialTools),
    searchableTools: namesOf(exposed.searchableTools),
    loaderTools: exposed.loaderTools,
    ...details({ subject, verdicts, allowed, offered }, include, language),
    toolLoading: offering.state && toolLoadingOf(offering.state, subject.view),
    ...(include.has('definitions') && { definitions }),
    nameMap,
    warnings,
    emptyReason: offered.length > 0 ? null : emptyReason(verdicts),
  };
}

interface Judged extends Judgement {
  readonly allowed: readonly Routed[];
  readonly offered: readonly CatalogTool[];
}

function details(judged: Judged, include: ReadonlySet<Include>, language: Language): Partial<Decision> {
  const { subject, allowed, offered } = judged;
  const { agent } = subject;
  return {
    ...(include.has('tools') && { tools: offered.map((tool) => decidedTool(tool, subject)) }),
    ...(include.has('promptHints') && { toolPromptHints: offered.flatMap((tool) => promptHint(tool, subject)) }),
    ...(include.has('reasons') && { disabledReasons: disabledReasons(judged, language) }),
    ...(include.has('profiles') && { effectiveRuntimeProfile: byName(allowed, ({ tool }) => profileFor(tool, agent)) }),
    ...(include.has('routes') && { toolRuntimeRoutes: byName(allowed, ({ route }) => route) }),
    ...(include.has('subagent') && { effectiveSubagentAllowed: byName(allowed, ({ tool }) => subagentMayUse(tool, agent)) }),
    ...(include.has('diagnostics') && { runtimeDiagnostic: byName(allowed, ({ tool, route }) => diagnosticOf(tool, profileFor(tool, agent), route, subject.context.operations)) }),
  };
}

function byName<T>(verdicts: readonly Routed[], value: (verdict: Routed) => T): NameMap<T> {
  const map = emptyNameMap<T>();
  for (const verdict of verdicts) map[verdict.tool.name] = value(verdict);
  return map;
}

function decidedTool(tool: CatalogTool, subject: ToldSubject): DecidedTool {
  const { effective } = tool;
  const base = descriptionFor(tool, subject);
  return {
    name: tool.name,
    label: labelFor(tool, subject),
    description: subject.shows === 'intent' ? (effective.intent?.description ?? base) : base,
    toolset: effective.toolset,
    capability: effective.capability,
    kind: effective.kind,
    isCore: effective.isCore,
    state: grantedState(tool, subject.agent),
    ...(effective.intent && { intent: { delegates: effective.intent.delegates } }),
  };
}

/** The highest override that is set counts, even a blank one, which silences the hint. */
function promptHint({ name, effective }: CatalogTool, { agent }: ToldSubject): PromptHint[] {
  if (!effective.supportsPromptHint) return [];
  const hint = agent.overrides.get(name)?.promptHint ?? effective.promptHint ?? '';
  return hint.trim() === '' ? [] : [{ toolName: name, hint }];
}

/** Registered tools that are not offered, internal ones left out, and selected names that nobody may know of. */
function disabledReasons({ verdicts, subject }: Judged, language: Language): NameMap<Reason> {
  const reasons = emptyNameMap<Reason>();
  for (const { tool, refusal } of verdicts) {
    if (refusal !== null && !isInternal(tool)) reasons[tool.name] = reasonOf(refusal, language);
  }
  for (const name of unknownSelected(subject)) reasons[name] = reasonOf(refuse('UNKNOWN_TOOL'), language);
  return reasons;
}

function unknownSelected({ view, selected }: ToldSubject): string[] {
  return [...(selected ?? [])].filter((name) => {
    const tool = view.byName.get(name);
    return tool === undefined || isInternal(tool);
  });
}

function emptyReason(verdicts: readonly Verdict[]): Decision['emptyReason'] {
  const codes = verdicts.flatMap(({ tool, refusal }) => (refusal === null || isInternal(tool) ? [] : [refusal.code]));
  return commonest(codes) ?? 'EMPTY_CATALOG';
}
