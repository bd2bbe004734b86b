/** Holds what happened in a run against what is promised. Each check answers sentences; none at all is a good run. */
import { equalJson } from '../../src/core/json.js';
import type { LoadingState } from '../../src/core/loading-state.js';
import { agentStage, agentSubject, grantStage } from '../../src/core/pipeline.js';
import type { PolicyView } from '../../src/core/policy-view.js';
import { coreAnswer } from './core-answers.js';
import type { Acknowledged, Claim, Entry, Failure, Fault, Read, Run, Streamed, TenantRun } from './record.js';
import { Replay } from './replay.js';

/** An answer that is told as fresh holds what was acknowledged this long before it was asked for. */
export const FRESH_WITHIN_MS = 1_000;
/** After a database has come back: the time in which callers may still be told that it is away. */
const RECOVERY_MS = 5_000;

interface Told {
  readonly revision: number;
  /** Of decide alone: check does not say. */
  readonly freshness?: 'fresh' | 'stale';
  readonly toolLoading?: LoadingState | null;
}

export function verify(run: Run): string[] {
  const perTenant = run.tenants.flatMap((tenant) => verifyTenant(tenant, run.faults).map((sentence) => `${tenant.tenant}: ${sentence}`));
  return [...perTenant, ...unpromisedFailures(run)];
}

function verifyTenant(tenant: TenantRun, faults: readonly Fault[]): string[] {
  const replay = new Replay(tenant.entries);
  return [
    ...gaps(tenant.entries),
    ...replay.faults,
    ...lostWrites(tenant.acknowledged, tenant.entries, replay),
    ...tenant.reads.flatMap((read) => belowMinRevision(read)),
    ...tooOld(tenant, faults),
    ...wrongAnswers(tenant.reads, replay),
    ...lostLoads(tenant),
    ...(tenant.streamed === null ? [] : streamFaults(tenant.streamed, tenant.entries)),
  ];
}

/** History has each revision exactly once. */
function gaps(entries: readonly Entry[]): string[] {
  const revisions = entries.map(({ revision }) => revision).sort((a, b) => a - b);
  const at = revisions.findIndex((revision, i) => revision !== i + 1);
  return at < 0 ? [] : [`history has revision ${revisions[at] ?? 0} where ${at + 1} belongs`];
}

/** Every acknowledged write is in history, by its request, or what it said held already at its revision. */
function lostWrites(acknowledged: readonly Acknowledged[], entries: readonly Entry[], replay: Replay): string[] {
  const byRevision = new Map(entries.map((entry) => [entry.revision, entry]));
  const written = new Map<string, number>();
  for (const { requestId, revision } of entries) written.set(requestId, revision);
  return acknowledged.flatMap(({ revision, requestId, claim }) => {
    const view = replay.at(revision);
    if (view === undefined || !byRevision.has(revision)) return [`the acknowledged revision ${revision} (${claim.kind}) is not in history`];
    const own = written.get(requestId);
    if (own !== undefined && own !== revision) return [`a write was acknowledged as revision ${revision} and history has it as ${own}`];
    return holds(claim, view) ? [] : [`what was acknowledged as revision ${revision} does not hold there: ${JSON.stringify(claim)}`];
  });
}

function holds(claim: Claim, view: PolicyView): boolean {
  switch (claim.kind) {
    case 'switch': {
      const [tool, agent] = [view.byName.get(claim.tool), view.agents.get(claim.agentId)];
      if (tool === undefined || agent === undefined) return false;
      const subject = agentSubject(view.agents, agent);
      return (grantStage(tool, subject) === null && agentStage(tool, subject) === null) === claim.on;
    }
    case 'tool': {
      const governance = view.byName.get(claim.name)?.record.governance;
      return governance?.status === claim.status && governance.label === claim.label;
    }
    case 'settings':
      return Object.entries(claim.patch).every(([name, value]) => equalJson(view.settings[name as keyof typeof view.settings], value));
    case 'agent': {
      const document = view.agents.get(claim.agentId)?.record.document;
      return document?.displayName === claim.displayName && equalJson([document.tools.enabled, document.tools.disabled], [claim.enabled, claim.disabled]);
    }
    case 'no agent':
      return !view.agents.has(claim.agentId);
    case 'sync':
      return claim.names.every((name) => {
        const record = view.byName.get(name)?.record;
        return record?.available === true && record.source === claim.source && record.declaration.description === claim.description;
      });
  }
}

function belowMinRevision({ minRevision, revision, question }: Read): string[] {
  if (minRevision === null || revision >= minRevision) return [];
  return [`${question.route} with minRevision ${minRevision} was answered from revision ${revision}`];
}

/** The highest revision acknowledged by a moment, in the order of time. */
class Known {
  private readonly times: number[] = [];
  private readonly revisions: number[] = [];

  constructor(acknowledged: readonly Acknowledged[]) {
    let highest = 0;
    for (const { at, revision } of [...acknowledged].sort((a, b) => a.at - b.at)) {
      if (revision <= highest) continue;
      highest = revision;
      this.times.push(at);
      this.revisions.push(revision);
    }
  }

  by(moment: number): number {
    return this.revisions[firstAfter(this.times, moment) - 1] ?? 0;
  }

  /** Since when something newer than the revision was known; Infinity for never. */
  newerThan(revision: number): number {
    return this.times[firstAfter(this.revisions, revision)] ?? Infinity;
  }
}

function firstAfter(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const isDuring = (faults: readonly Fault[], of: Fault['of'], { askedAt, answeredAt }: { askedAt: number; answeredAt: number }): boolean =>
  faults.some((fault) => fault.of === of && askedAt < fault.to + RECOVERY_MS && answeredAt > fault.from);

const toldIn = ({ text }: Read): Told => JSON.parse(text) as Told;

/** Check does not tell how old it is: while the database is away it is given the benefit of the doubt. */
function tooOld({ reads, acknowledged }: TenantRun, faults: readonly Fault[]): string[] {
  const known = new Known(acknowledged);
  return reads.flatMap((read) => {
    const owed = known.by(read.askedAt - FRESH_WITHIN_MS);
    if (read.revision >= owed) return [];
    const { freshness } = toldIn(read);
    if (freshness === 'stale' || (freshness === undefined && isDuring(faults, 'database', read))) return [];
    const age = Math.round(read.askedAt - known.newerThan(read.revision));
    return [`${read.question.route} was answered from revision ${read.revision}, told as fresh, when ${owed} was owed: ${age} ms old${read.is304 ? ' (304)' : ''}`];
  });
}

/** How long before the oldest answer was asked for something newer had been acknowledged. */
export function worstAge({ reads, acknowledged }: TenantRun): number {
  const known = new Known(acknowledged);
  return reads.reduce((worst, { askedAt, revision }) => Math.max(worst, askedAt - known.newerThan(revision)), 0);
}

/** Every answer is what the core says at its revision, to the letter. */
function wrongAnswers(reads: readonly Read[], replay: Replay): string[] {
  const answers = new Map<string, string>();
  return reads.flatMap((read) => {
    const { question, revision, text, is304 } = read;
    const { freshness: _, staleForMs: __, ...told } = JSON.parse(text) as Told & { staleForMs?: number };
    const view = replay.at(revision);
    const where = `${question.route} ${JSON.stringify(question.body)} at revision ${revision}${is304 ? ' (304)' : ''}`;
    if (view === undefined) return [`${where}: there is no such revision`];
    if (told.revision !== revision) return [`${where}: the body says revision ${told.revision}`];
    const state = question.body.conversationId === undefined ? null : (told.toolLoading ?? null);
    const key = `${revision} ${question.route} ${JSON.stringify([question.body, state])}`;
    const right = answers.get(key) ?? coreAnswer(view, question, state);
    answers.set(key, right);
    const isRight = JSON.stringify(told) === right || equalJson(told, JSON.parse(right));
    return isRight ? [] : [`${where}: wrong. Answered ${gist(told)}, the core says ${gist(JSON.parse(right))}`];
  });
}

const gist = ({ toolNames, allowed, code, initialTools }: Record<string, unknown>): string => JSON.stringify({ toolNames, allowed, code, initialTools });

/** What a conversation had loaded a second ago is loaded in every answer that is told as fresh. */
function lostLoads({ reads, loaded }: TenantRun): string[] {
  return reads.flatMap((read) => {
    const { conversationId } = read.question.body;
    const { freshness, toolLoading } = conversationId === undefined ? {} : toldIn(read);
    if (freshness !== 'fresh') return [];
    const owed = loaded.filter((one) => one.conversationId === conversationId && one.at < read.askedAt - FRESH_WITHIN_MS).flatMap(({ names }) => names);
    const lost = owed.filter((name) => toolLoading?.loaded.includes(name) !== true);
    return lost.length === 0 ? [] : [`the conversation ${conversationId ?? ''} had ${lost.join(', ')} loaded, and a decision a second later knows nothing of it`];
  });
}

/** Each revision once, in order, up to the last. */
function streamFaults({ since, revisions, resyncs }: Streamed, entries: readonly Entry[]): string[] {
  const last = Math.max(since, ...entries.map(({ revision }) => revision));
  const at = revisions.findIndex((revision, i) => revision !== since + 1 + i);
  if (resyncs > 0) return [`the stream of changes asked for a resync ${resyncs} times, though little was missed`];
  if (at >= 0) return [`the stream of changes told revision ${revisions[at] ?? 0} where ${since + 1 + at} belongs`];
  return since + revisions.length === last ? [] : [`the stream of changes ended with revision ${since + revisions.length}, the last is ${last}`];
}

/** No decision fails for a fault of Redis; of those of the database callers are told by 503, and plain reads go on. */
function unpromisedFailures({ failures, faults, beganAt }: Run): string[] {
  const seconds = (at: number): string => ((at - beganAt) / 1_000).toFixed(1);
  return failures.filter((failure) => !isPromised(failure, faults)).map(({ what, status, detail, askedAt, answeredAt }) =>
    `a ${what}, asked ${seconds(askedAt)} s after the beginning, failed at ${seconds(answeredAt)} s: ${status === 0 ? 'no answer' : status} (${detail})`);
}

function isPromised(failure: Failure, faults: readonly Fault[]): boolean {
  if (failure.status === 0) return faults.some(({ of, url, from }) => of === 'replica' && url === failure.url && failure.answeredAt >= from);
  return failure.status === 503 && failure.what !== 'plain read' && isDuring(faults, 'database', failure);
}
