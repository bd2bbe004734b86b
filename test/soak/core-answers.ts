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

/** What the core alone answers, as text; freshness is no part of it. `state` is that of the conversation. */
export function coreAnswer(view: PolicyView, { route, body }: Question, state: LoadingState | null): string {
  if (route === '/v1/check') {
    const request = readCheckRequest(body);
    const subject = subjects.of(view, request.agentId, request.context);
    return JSON.stringify(check(subject, { ...request, offering: offeringOf(request, state, view) }, engines.validateArguments, 'en'));
  }
  const request = readDecideRequest(body);
  const subject = subjects.of(view, request.agentId, request.context, { view: request.view, select: request.select });
  return JSON.stringify(decide(subject, { ...request, offering: offeringOf(request, state, view) }, 'en'));
}
