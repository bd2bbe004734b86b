/** Names the outcome of a judgement, so that an answer that was written before need not be written again. */
import type { DecideParts, Judgement } from './decide.js';
import type { Verdict } from './pipeline.js';
import type { Language } from './reason.js';

/**
 * INVARIANT (an outcome names its answer): on one view, judgements with the same outcome are told in the same bytes. It holds
 * all that `tell` reads beside the view: `ToldSubject` lets it see no more of the subject, and the parts are taken as a whole.
 * Null where that can not be said in short.
 */
export function outcomeOf({ subject, verdicts }: Judgement, { include, ...parts }: DecideParts, language: Language): string | null {
  const said = saidBy(verdicts);
  if (said === null) return null;
  const { agent, depth, shows, selected, context } = subject;
  return `${JSON.stringify([language, agent.agentId, depth, shows, selected && [...selected], context.operations, [...include], parts])}${said}`;
}

/** Refusals and routes are one object each, so a number can stand for each. */
const numbers = new WeakMap<object, number>();
let numbered = 0;
/** The largest number that one character holds. */
const LARGEST = 0xffff;

function numberOf(word: object | null): number {
  if (word === null) return 0;
  const known = numbers.get(word);
  if (known !== undefined) return known;
  numbered += 1;
  numbers.set(word, numbered);
  return numbered;
}

/** Two characters for each tool, in the order of the view; null when there are more words than characters. */
function saidBy(verdicts: readonly Verdict[]): string | null {
  let said = '';
  for (const { refusal, route } of verdicts) said += String.fromCharCode(numberOf(refusal), numberOf(route));
  return numbered > LARGEST ? null : said;
}
