import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { normaliseDocument } from '../../src/core/agent-document.js';
import type { ToolRecord } from '../../src/core/catalog.js';
import { readDeclaration } from '../../src/core/declaration-reader.js';
import type { DecideParts } from '../../src/core/decide.js';
import { judgeAll, tell } from '../../src/core/decide.js';
import { FORMATS } from '../../src/core/formats/format.js';
import type { JsonObject } from '../../src/core/json.js';
import { outcomeOf } from '../../src/core/outcome.js';
import type { ToldSubject } from '../../src/core/pipeline.js';
import { UNNARROWED } from '../../src/core/pipeline.js';
import type { Language } from '../../src/core/reason.js';
import { INCLUDES } from '../../src/core/request.js';
import { DEFAULT_SETTINGS } from '../../src/core/settings.js';
import { mustEqual } from '../support/must-equal.js';
import type { Situation } from './arbitraries.js';
import { asked, context, narrowing, offeringIn, situation, snapshot, subjectIn } from './arbitraries.js';

/** All of a question but the agent and its tenant. */
const question = fc.record({
  turn: fc.record({ context: fc.tuple(context, fc.constantFrom(null, 'local', 'mock')).map(([given, operations]) => ({ ...given, operations })), narrowing, asked, snapshot: fc.option(snapshot, { freq: 1 }), limit: fc.constantFrom(null, null, 3) }),
  include: fc.subarray([...INCLUDES]),
  format: fc.constantFrom(null, null, ...FORMATS),
  nativeDeferral: fc.boolean(),
  language: fc.constantFrom<Language>('en', 'en', 'zh'),
});
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

const answer = (given: Situation, { turn, include, format, nativeDeferral, language }: Question): { outcome: string | null; text: string } => {
  const asking: Situation = { ...given, ...turn };
  const judgement = judgeAll(subjectIn(asking));
  const parts: DecideParts = { offering: offeringIn(asking), include: new Set(include), format, nativeDeferral };
  return { outcome: outcomeOf(judgement, parts, language), text: JSON.stringify(tell(judgement, parts, language)) };
};

/** One input of the question exchanged for that of another. */
function exchange(base: Question, other: Question, at: number): Question {
  const turnMembers = Object.keys(base.turn) as (keyof Question['turn'])[];
  const members = (Object.keys(base) as (keyof Question)[]).filter((member) => member !== 'turn');
  const inTurn = turnMembers[at % (turnMembers.length + members.length)];
  if (inTurn !== undefined) return { ...base, turn: { ...base.turn, [inTurn]: other.turn[inTurn] } };
  const member = members[(at % (turnMembers.length + members.length)) - turnMembers.length] ?? 'language';
  return { ...base, [member]: other[member] };
}

describe('INVARIANT (an outcome names its answer)', () => {
  it('questions of the same outcome have the same bytes, whatever else differs', () => {
    let shared = 0;
    fc.assert(fc.property(situation(), question, fc.array(question, { minLength: 12, maxLength: 12 }), (given, base, others) => {
      const known = new Map<string, string>();
      const first = answer(given, base);
      if (first.outcome !== null) known.set(first.outcome, first.text);
      others.forEach((other, at) => {
        const { outcome, text } = answer(given, exchange(base, other, at));
        expect(outcome).not.toBeNull();
        if (outcome === null) return;
        if (known.has(outcome)) shared += 1;
        mustEqual(known.get(outcome) ?? text, text);
        known.set(outcome, text);
      });
    }), { numRuns: 400 });
    expect(shared).toBeGreaterThan(1_000);
  });

  /** All of the subject that the view and the agent’s name do not say already: a new member has to find its value here. */
  const members: { readonly [K in Exclude<keyof ToldSubject, 'view' | 'agent' | 'targets'>]: ToldSubject[K] } = {
    depth: 1,
    shows: 'intent',
    selected: new Set(['nowhere']),
    context: { operations: 'mock' },
  };
  const record = (declared: JsonObject): ToolRecord =>
    ({ name: String(declared['name']), source: 's', available: true, governance: {}, revision: 1, declaration: readDeclaration(declared, String(declared['name']), { format: 'toolcrib', defaultToolset: 'default' }) });
  const document = normaliseDocument('main', { subagentConfig: { enabled: true, allowedPresetAgentIds: ['other'] } });
  const given: Situation = {
    records: [record({ name: 'a', description: 'd', isCore: true, intent: { description: 'for intents' } }), record({ name: 'ask_other', description: 'd', isCore: true, role: 'delegate', targetAgentId: 'other' })],
    document,
    parent: document,
    settings: { ...DEFAULT_SETTINGS, mainAgentInitialSubagents: ['other'] },
    context: {},
    narrowing: UNNARROWED,
    asked: { exposure: 'search', toolLoading: null, discovered: [], format: null },
    snapshot: null,
    limit: null,
  };

  it.each(Object.entries(members))('it names %s of the subject, which changes an answer where no verdict differs', (member, value) => {
    const { subject, verdicts } = judgeAll(subjectIn(given));
    const parts: DecideParts = { offering: offeringIn(given), include: new Set(INCLUDES), format: null, nativeDeferral: false };
    const [one, other] = [subject, { ...subject, [member]: value }].map((told) => [tell({ subject: told, verdicts }, parts, 'en'), outcomeOf({ subject: told, verdicts }, parts, 'en')]);
    expect(other?.[0]).not.toEqual(one?.[0]);
    expect(other?.[1]).not.toBe(one?.[1]);
  });
});
