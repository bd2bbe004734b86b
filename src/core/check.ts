/** The execution guard: the pipeline's verdict on one tool, then its arguments (semantics, section 7). */
import type { CatalogTool } from './catalog.js';
import { targetArgumentOf } from './catalog.js';
import type { CheckAnswer } from './decision.js';
import type { ArgumentFault, ValidateArguments } from './engines.js';
import { isObject, own } from './json.js';
import type { Subject } from './pipeline.js';
import { judge } from './pipeline.js';
import type { Language, Refusal } from './reason.js';
import { ALLOWED_MESSAGE, reasonOf, refuse } from './reason.js';
import type { CheckRequest } from './request.js';
import type { Route } from './route.js';

/**
 * Whether this call may be made now. INVARIANT (decide and check agree): without arguments it says of every tool what decide
 * says. An unknown name and an internal tool get the very same answer.
 */
export function check(subject: Subject, request: Pick<CheckRequest, 'toolName' | 'arguments'>, validate: ValidateArguments, language: Language): CheckAnswer {
  const { revision } = subject.view;
  const tool = subject.view.byName.get(request.toolName);
  if (tool === undefined) return refused(refuse('UNKNOWN_TOOL'), null, revision, language);
  const { refusal, route } = judge(tool, subject);
  if (refusal !== null) return refused(refusal, route, revision, language);
  if (request.arguments !== undefined) {
    const wrong = argumentsRefusal(tool, request.arguments, subject, validate);
    if (wrong !== null) return { ...refused(wrong.refusal, route, revision, language), ...(wrong.errors && { errors: wrong.errors }) };
  }
  return { allowed: true, code: 'OK', stage: null, message: ALLOWED_MESSAGE[language], route, revision };
}

function refused(refusal: Refusal, route: Route | null, revision: number, language: Language): CheckAnswer {
  const { code, stage, message } = reasonOf(refusal, language);
  return { allowed: false, code, stage, message, route, revision };
}

interface WrongArguments {
  readonly refusal: Refusal;
  readonly errors?: readonly ArgumentFault[];
}

function argumentsRefusal(tool: CatalogTool, given: unknown, subject: Subject, validate: ValidateArguments): WrongArguments | null {
  const { effective } = tool;
  if (effective.role === 'spawn' && !namesTarget(given, targetArgumentOf(effective), subject.targets)) return { refusal: refuse('TARGET_NOT_ALLOWED') };
  const errors = validate(effective.inputSchema, given);
  return errors.length === 0 ? null : { refusal: refuse('INVALID_ARGUMENTS'), errors };
}

function namesTarget(given: unknown, argument: string, targets: ReadonlySet<string>): boolean {
  const target = isObject(given) ? own(given, argument) : undefined;
  return typeof target === 'string' && target.trim() !== '' && targets.has(target);
}
