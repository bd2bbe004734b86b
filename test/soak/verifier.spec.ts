import { describe, expect, it } from '@jest/globals';
import { coreAnswer } from './core-answers.js';
import type { Acknowledged, Entry, Failure, Fault, Question, Read, Run, TenantRun } from './record.js';
import { Replay } from './replay.js';
import { verify, worstAge } from './verifier.js';
import { CoreWorld } from '../support/core-world.js';
import type { Step } from '../support/case-file.js';

const step = (action: string, input: object): Step => ({ action, input, want: {} }) as unknown as Step;
const QUESTION: Question = { route: '/v1/decide', body: { agentId: 'm', include: ['reasons'] } };
const IN_CONVERSATION: Question = { route: '/v1/decide', body: { agentId: 'm', conversationId: 'c', include: ['reasons'] } };
const STATE = { enabled: true, deferredSet: ['b'], initialExposed: ['a', 'load_tools'], loaded: ['b'], discovered: [] };

/** Four revisions, as history tells them. */
async function entries(): Promise<Entry[]> {
  const world = await CoreWorld.open();
  await world.do(step('sync', { tools: [{ name: 'a', description: 'd', isCore: true }, { name: 'b', description: 'd', isCore: true, loadingCategory: 'k' }], categories: [{ key: 'k', label: 'K', whenToUse: 'w' }] }));
  await world.do(step('put', { agentId: 'm', displayName: 'one' }));
  await world.do(step('switch', { agentId: 'm', name: 'a', on: false }));
  await world.do(step('governance', { name: 'b', status: 'disabled', label: 'w4' }));
  const { items } = await world.do(step('history', {}));
  return (items as Entry[]).map((entry) => ({ ...entry, requestId: `r${entry.revision}` }));
}

const ACKNOWLEDGED: readonly Acknowledged[] = [
  { revision: 2, requestId: 'r2', at: 100, claim: { kind: 'agent', agentId: 'm', displayName: 'one', enabled: [], disabled: [] } },
  { revision: 3, requestId: 'r3', at: 200, claim: { kind: 'switch', agentId: 'm', tool: 'a', on: false } },
  { revision: 4, requestId: 'r4', at: 300, claim: { kind: 'tool', name: 'b', status: 'disabled', label: 'w4' } },
];

const answered = (all: readonly Entry[], revision: number, askedAt: number, more: Partial<Read> = {}): Read => {
  const view = new Replay(all).at(revision);
  if (view === undefined) throw new Error('no such revision');
  const { agentId, revision: of, ...rest } = JSON.parse(coreAnswer(view, more.question ?? QUESTION, more.question === IN_CONVERSATION ? STATE : null));
  return { question: QUESTION, minRevision: null, askedAt, answeredAt: askedAt + 5, revision, is304: false, text: JSON.stringify({ agentId, revision: of, freshness: 'fresh', ...rest }), ...more };
};

/** What is said of a good run that one thing was changed in. */
async function judged(change: (good: TenantRun) => Partial<TenantRun> = () => ({}), more: Partial<Run> = {}): Promise<string[]> {
  const all = await entries();
  const good: TenantRun = {
    tenant: 't', entries: all, acknowledged: ACKNOWLEDGED,
    reads: [answered(all, 2, 150), answered(all, 3, 1_250), answered(all, 4, 1_400, { minRevision: 4 }), answered(all, 4, 1_500, { question: IN_CONVERSATION })],
    loaded: [{ conversationId: 'c', names: ['b'], at: 400 }],
    streamed: { since: 1, revisions: [2, 3, 4], resyncs: 0 },
  };
  return verify({ tenants: [{ ...good, ...change(good) }], failures: [], faults: [], beganAt: 0, tookMs: 1, ...more });
}

const failure: Failure = { what: 'plain read', url: 'u', askedAt: 1_000, answeredAt: 1_010, status: 503, detail: 'x' };
const fault: Fault = { name: 'f', of: 'database', from: 900, to: 1_100 };

describe('the verifier of a run', () => {
  it('finds nothing in a good one', async () => {
    expect(await judged()).toEqual([]);
  });

  it('finds an answer that is older than a second and told as fresh, and none that is told as stale', async () => {
    const all = await entries();
    const old = answered(all, 3, 1_301);
    expect(await judged(() => ({ reads: [old] }))).toEqual([expect.stringContaining('answered from revision 3, told as fresh, when 4 was owed: 1001 ms old')]);
    expect(await judged(() => ({ reads: [{ ...old, text: old.text.replace('"fresh"', '"stale","staleForMs":1200') }] }))).toEqual([]);
  });

  it('finds an old check, which does not say how old it is, but for the time in which the database is away', async () => {
    const all = await entries();
    const question: Question = { route: '/v1/check', body: { agentId: 'm', toolName: 'a' } };
    const view = new Replay(all).at(2);
    const old = answered(all, 2, 1_301, { question, text: view === undefined ? '' : coreAnswer(view, question, null) });
    expect(await judged(() => ({ reads: [old] }))).toEqual([expect.stringContaining('/v1/check was answered from revision 2')]);
    expect(await judged(() => ({ reads: [old] }), { faults: [fault] })).toEqual([]);
  });

  it('finds a wrong list of tools, a wrong member beside it, and a wrong revision in a body', async () => {
    const all = await entries();
    const right = answered(all, 2, 150);
    const told = (text: string) => judged(() => ({ reads: [{ ...right, text }] }));
    expect(await told(right.text.replace('"toolNames":["a","b"]', '"toolNames":["b"]'))).toEqual([expect.stringContaining('at revision 2: wrong. Answered {"toolNames":["b"]')]);
    expect(await told(right.text.replace('"emptyReason":null', '"emptyReason":"EMPTY_CATALOG"'))).toEqual([expect.stringContaining('wrong')]);
    expect(await told(right.text.replace('"revision":2', '"revision":3'))).toEqual([expect.stringContaining('the body says revision 3')]);
    expect(await judged(() => ({ reads: [{ ...right, revision: 9 }] }))).toEqual([expect.stringContaining('there is no such revision')]);
  });

  it('finds the answer of another revision under the number of this one', async () => {
    const all = await entries();
    const other = answered(all, 2, 1_350);
    expect(await judged(() => ({ reads: [{ ...other, revision: 4, text: other.text.replace('"revision":2', '"revision":4') }] }))).toEqual([expect.stringContaining('wrong')]);
  });

  it('finds a minRevision that was not honoured', async () => {
    const all = await entries();
    expect(await judged(() => ({ reads: [answered(all, 3, 350, { minRevision: 4 })] }))).toEqual(['t: /v1/decide with minRevision 4 was answered from revision 3']);
  });

  it('finds a lost write, one that was overwritten in silence, and one that history has elsewhere', async () => {
    expect(await judged(({ acknowledged }) => ({ acknowledged: [...acknowledged, { revision: 5, requestId: 'r5', at: 9_999, claim: { kind: 'no agent', agentId: 'x' } }] }))).toEqual(['t: the acknowledged revision 5 (no agent) is not in history']);
    expect(await judged(() => ({ acknowledged: [{ revision: 2, requestId: 'r2', at: 100, claim: { kind: 'agent', agentId: 'm', displayName: 'another', enabled: [], disabled: [] } }] }))).toEqual([expect.stringContaining('acknowledged as revision 2 does not hold there')]);
    expect(await judged(() => ({ acknowledged: [{ revision: 4, requestId: 'r3', at: 300, claim: { kind: 'switch', agentId: 'm', tool: 'a', on: false } }] }))).toEqual(['t: a write was acknowledged as revision 4 and history has it as 3']);
  });

  it('finds a gap in history, a revision twice, and a `before` that is not what was there', async () => {
    const all = await entries();
    const rest = { acknowledged: [], reads: [], loaded: [], streamed: null };
    expect(await judged(() => ({ ...rest, entries: all.filter(({ revision }) => revision !== 3) }))).toContain('t: history has revision 4 where 3 belongs');
    expect(await judged(() => ({ ...rest, entries: [...all, ...all.slice(0, 1)] }))).toContain('t: history has revision 4 where 5 belongs');
    const [last, ...earlier] = all;
    expect(await judged(() => ({ ...rest, entries: [...earlier, { ...last, before: { name: 'b', source: 'other', governance: {} } } as Entry] }))).toEqual([expect.stringContaining('revision 4: `before` of tool b is not what')]);
  });

  it('finds a load that a conversation forgot', async () => {
    expect(await judged(({ loaded }) => ({ loaded: [...loaded, { conversationId: 'c', names: ['z'], at: 450 }] }))).toEqual([expect.stringContaining('had z loaded')]);
  });

  it('finds a revision that the stream of changes skipped, repeated or never told, and a resync', async () => {
    const streamed = (revisions: number[], resyncs = 0) => judged(() => ({ streamed: { since: 1, revisions, resyncs } }));
    expect(await streamed([2, 4])).toEqual(['t: the stream of changes told revision 4 where 3 belongs']);
    expect(await streamed([2, 3, 3, 4])).toEqual(['t: the stream of changes told revision 3 where 4 belongs']);
    expect(await streamed([2, 3])).toEqual(['t: the stream of changes ended with revision 3, the last is 4']);
    expect(await streamed([2, 3, 4], 1)).toEqual([expect.stringContaining('resync')]);
  });

  it('finds a failure that is not promised: a decision for Redis, a plain one ever, no answer from a replica that lives', async () => {
    const told = (failed: Partial<Failure>, faults: Fault[]) => judged(undefined, { failures: [{ ...failure, ...failed }], faults });
    expect(await told({ what: 'write' }, [])).toHaveLength(1);
    expect(await told({ what: 'write' }, [fault])).toEqual([]);
    expect(await told({ what: 'write', askedAt: 7_000, answeredAt: 7_100 }, [fault])).toHaveLength(1);
    expect(await told({ what: 'write', status: 500 }, [fault])).toHaveLength(1);
    expect(await told({ what: 'other read' }, [{ ...fault, of: 'redis' }])).toHaveLength(1);
    expect(await told({}, [fault])).toHaveLength(1);
    expect(await told({ status: 0 }, [{ ...fault, of: 'replica', url: 'v' }])).toHaveLength(1);
    expect(await told({ status: 0 }, [{ ...fault, of: 'replica', url: 'u' }])).toEqual([]);
  });

  it('tells how old the oldest answer was', async () => {
    const all = await entries();
    expect(worstAge({ tenant: 't', entries: all, acknowledged: ACKNOWLEDGED, reads: [answered(all, 3, 750)], loaded: [], streamed: null })).toBe(450);
  });
});
