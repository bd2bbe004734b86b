import { check } from '../../src/core/check.js';
import { decide } from '../../src/core/decide.js';
import { offeringOf } from '../../src/core/expose.js';
import type { LoadingState } from '../../src/core/loading-state.js';
import type { PolicyView } from '../../src/core/policy-view.js';
import { readCheckRequest, readDecideRequest } from '../../src/core/request.js';
import { LibraryEngines } from '../../src/engines/library-engines.js';
import { Subjects } from '../../src/policy/subjects.js';
import type { Question } from './record.js';

const engines = new LibraryEngines();
const subjects = new Subjects(engines);

/** So often a busy process may find that its own time for conditions ran out, which is no answer of the core. */
const TRIES = 20;

/** What the core alone answers, as text; freshness is no part of it. `state` is that of the conversation. */
export function coreAnswer(view: PolicyView, question: Question, state: LoadingState | null): string {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { text, isCutShort } = answerOnce(view, question, state);
    if (!isCutShort) return text;
  }
  throw new Error('the machine is too busy to judge by');
}

function answerOnce(view: PolicyView, { route, body }: Question, state: LoadingState | null): { readonly text: string; readonly isCutShort: boolean } {
  if (route === '/v1/check') {
    const request = readCheckRequest(body);
    const subject = subjects.of(view, request.agentId, request.context);
    const text = JSON.stringify(check(subject, { ...request, offering: offeringOf(request, state, view) }, engines.validateArguments, 'en'));
    return { text, isCutShort: engines.ranOutOfTime(subject.facts) };
  }
  const request = readDecideRequest(body);
  const subject = subjects.of(view, request.agentId, request.context, { view: request.view, select: request.select });
  const text = JSON.stringify(decide(subject, { ...request, offering: offeringOf(request, state, view) }, 'en'));
  return { text, isCutShort: engines.ranOutOfTime(subject.facts) };
}
