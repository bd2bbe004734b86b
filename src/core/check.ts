/** The execution guard: the pipeline's verdict on one tool, whether it is loaded, then its arguments (semantics, section 7). */
import type { CatalogTool } from './catalog.js';
import { targetArgumentOf } from './catalog.js';
import { offeredTools } from './decide.js';
import type { CheckAnswer } from './decision.js';
import type { ArgumentFault, ValidateArguments } from './engines.js';
import type { Exposed, Offering } from './expose.js';
import { expose, isLoader } from './expose.js';
import { isObject, own } from './json.js';
import type { Subject } from './pipeline.js';
import { judge } from './pipeline.js';
import { nameMeant } from './present.js';
import type { Language, Refusal } from './reason.js';
import { ALLOWED_MESSAGE, NOT_FOUND_YET, reasonOf, refuse } from './reason.js';
import type { CheckRequest } from './request.js';
import type { Route } from './route.js';

/** What check is asked: one name, with or without arguments, and how the tools of the turn are offered. */
export interface CheckParts extends Pick<CheckRequest, 'toolName' | 'arguments' | 'format'> {
  readonly offering: Offering;
}

/**
 * Whether this call may be made now. INVARIANT (decide and check agree): without arguments it allows exactly the tools and
 * loaders that decide offers at once, and refuses every other as decide does, or as not loaded. An unknown name and an
 * internal tool get the very same answer.
 */
export function check(subject: Subject, parts: CheckParts, validate: ValidateArguments, language: Language): CheckAnswer {
  const { revision } = subject.view;
  if (isLoader(parts.toolName)) return checkLoader(subject, parts, language);
  const tool = subject.view.byName.get(nameMeant(parts.toolName, subject.view, parts.format));
  if (tool === undefined) return refused(refuse('UNKNOWN_TOOL'), null, revision, language);
  const { refusal, route } = judge(tool, subject);
  const { refusal: wrong, errors } = refusal === null ? beyondPermission(tool, subject, parts, validate) : { refusal };
  if (wrong !== null) return { ...refused(wrong, route, revision, language), ...(errors && { errors }) };
  return { allowed: true, code: 'OK', stage: null, message: ALLOWED_MESSAGE[language], route, revision };
}

/** A loader is no registered tool: it may be called exactly when it is offered. */
function checkLoader(subject: Subject, { toolName, offering }: CheckParts, language: Language): CheckAnswer {
  const { revision } = subject.view;
  const { loaderTools } = exposedIn(subject, offering);
  if (!loaderTools.some((loader) => loader === toolName)) return refused(refuse('UNKNOWN_TOOL'), null, revision, language);
  return { allowed: true, code: 'OK', stage: null, message: ALLOWED_MESSAGE[language], route: null, revision };
}

const exposedIn = (subject: Subject, offering: Offering): Exposed => expose(offeredTools(subject), subject, offering);

function refused(refusal: Refusal, route: Route | null, revision: number, language: Language): CheckAnswer {
  const { code, stage, message } = reasonOf(refusal, language);
  return { allowed: false, code, stage, message, route, revision };
}

interface Beyond {
  readonly refusal: Refusal | null;
  readonly errors?: readonly ArgumentFault[];
}

function beyondPermission(tool: CatalogTool, subject: Subject, { offering, arguments: given }: CheckParts, validate: ValidateArguments): Beyond {
  const refusal = refusalByExposure(tool, subject, offering);
  if (refusal !== null) return { refusal };
  return given === undefined ? { refusal: null } : judgeArguments(tool, given, subject, validate);
}

/** Of a tool that passed the pipeline: whether it has to be loaded or found first. */
export function refusalByExposure(tool: CatalogTool, subject: Subject, offering: Offering): Refusal | null {
  if (!isSearchable(tool, subject, offering)) return null;
  return offering.mode === 'deferred' ? refuse('TOOL_NOT_LOADED') : NOT_FOUND_YET;
}

/** Only a limit makes the exposure of a tool depend on the others. */
function isSearchable(tool: CatalogTool, subject: Subject, offering: Offering): boolean {
  const { searchableTools } = offering.limit === null ? expose([tool], subject, offering) : exposedIn(subject, offering);
  return searchableTools.includes(tool);
}

function judgeArguments(tool: CatalogTool, given: unknown, subject: Subject, validate: ValidateArguments): Beyond {
  const { effective } = tool;
  if (effective.role === 'spawn' && !namesTarget(given, targetArgumentOf(effective), subject.targets)) return { refusal: refuse('TARGET_NOT_ALLOWED') };
  const errors = validate(effective.inputSchema, given);
  return errors.length === 0 ? { refusal: null } : { refusal: refuse('INVALID_ARGUMENTS'), errors };
}

function namesTarget(given: unknown, argument: string, targets: ReadonlySet<string>): boolean {
  const target = isObject(given) ? own(given, argument) : undefined;
  return typeof target === 'string' && target.trim() !== '' && targets.has(target);
}
