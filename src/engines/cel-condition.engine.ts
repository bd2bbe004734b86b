import { celEnv, celMap, isCelError, parse, plan } from '@bufbuild/cel';
import type { CelInput, CelMap } from '@bufbuild/cel';
import { LRUCache } from 'lru-cache';
import type { ConditionFacts } from '../core/engines.js';
import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import { TookTooLong, bounded, stopwatch } from './bounded.js';
import type { Input } from './condition-inputs.js';
import { inputOf, nameOf } from './condition-inputs.js';

const env = celEnv();
/** For one expression, and for all expressions of one request, those compiled that had not been yet; then the rest is false. */
const TIME_LIMIT_MS = 20;
const BUDGET_MS = 60;
/** What a part of an expression is charged where it can not take long: by the clock, a busy machine would decide what is true. */
const PART_MS = 0.001;
/** For compiling one expression. A busy machine may be at fault, so it is tried again some time later. */
const COMPILE_LIMIT_MS = 1_000;
const COMPILE_AGAIN_MS = 10_000;
/** Characters of a request's facts from which on even an expression without loops is watched. */
const LARGE_FACTS = 4_096;
const VARIABLES = new Set(['attributes', 'scene', 'model', 'depth']);
const TYPES = new Set(['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint']);
/** Operators that the planner knows itself, beside the functions of the environment. */
const OPERATORS = new Set(['_&&_', '_||_', '_?_:_', '_[_]', '@not_strictly_false']);

type Expr = ReturnType<typeof parse>['expr'];
type Bindings = Record<string, CelInput>;

interface Compiled {
  readonly run: (bindings: Bindings) => unknown;
  /** Loops over what the caller sends, or makes a pattern of it: watched when it runs. */
  readonly isDear: boolean;
  readonly parts: number;
  /** All that it can see of the facts. */
  readonly inputs: readonly Input[];
  /** Of what was compiled in this process. */
  readonly number: number;
}

interface Place {
  readonly id: number;
  readonly problem: string;
}

/** A part of an expression with the variables that are bound there. */
type Part = readonly [expr: Expr | undefined, bound: ReadonlySet<string>];

/** The first name of the expression that means nothing, depth first. */
function firstFault(expr: Expr, bound: ReadonlySet<string>): Place | null {
  const problem = problemOf(expr, bound);
  if (problem !== null) return { id: Number(expr.id), problem };
  for (const [part, names] of partsOf(expr, bound)) {
    const fault = part === undefined ? null : firstFault(part, names);
    if (fault !== null) return fault;
  }
  return null;
}

function problemOf({ exprKind: { case: kind, value } }: Expr, bound: ReadonlySet<string>): string | null {
  if (kind === 'identExpr') {
    const name = value.name.replace(/^\./u, '');
    return bound.has(name) || TYPES.has(name) ? null : `\`${name}\` is not known here`;
  }
  if (kind === 'callExpr') return OPERATORS.has(value.function) || env.funcs.find(value.function) !== undefined ? null : `there is no function \`${value.function}\``;
  return kind === 'structExpr' && value.messageName !== '' ? `there is no type \`${value.messageName}\`` : null;
}

function partsOf({ exprKind: { case: kind, value } }: Expr, bound: ReadonlySet<string>): Part[] {
  const here = (...parts: (Expr | undefined)[]): Part[] => parts.map((part) => [part, bound]);
  switch (kind) {
    case 'selectExpr':
      return here(value.operand);
    case 'callExpr':
      return here(value.target, ...value.args);
    case 'listExpr':
      return here(...value.elements);
    case 'structExpr':
      return here(...value.entries.flatMap((entry) => [entry.keyKind.case === 'mapKey' ? entry.keyKind.value : undefined, entry.value]));
    case 'comprehensionExpr': {
      const inner = new Set([...bound, value.iterVar, value.iterVar2, value.accuVar]);
      return [...here(value.iterRange, value.accuInit), [value.loopCondition, inner], [value.loopStep, inner], [value.result, inner]];
    }
    case 'identExpr':
    case 'constExpr':
    case undefined:
      return [];
  }
}

/** Whether a macro such as `all` or `map`, or a pattern, stands anywhere in the expression. */
function isDear(expr: Expr): boolean {
  const { case: kind, value } = expr.exprKind;
  if (kind === 'comprehensionExpr' || (kind === 'callExpr' && value.function === 'matches')) return true;
  return partsOf(expr, VARIABLES).some(([part]) => part !== undefined && isDear(part));
}

function inputsIn(expr: Expr): Input[] {
  const input = inputOf(expr);
  return input === null ? partsOf(expr, VARIABLES).flatMap(([part]) => (part === undefined ? [] : inputsIn(part))) : [input];
}

const countParts = (expr: Expr): number => partsOf(expr, VARIABLES).reduce((sum, [part]) => sum + (part === undefined ? 0 : countParts(part)), 1);

let numbered = 0;

const TOO_LONG = 'takes too long to compile (position 1)';

function compile(expression: string): Compiled | string {
  try {
    return bounded(COMPILE_LIMIT_MS, () => compileAtLeisure(expression));
  } catch (error) {
    return error instanceof TookTooLong ? TOO_LONG : explain(error);
  }
}

function compileAtLeisure(expression: string): Compiled | string {
  const parsed = parse(expression);
  const fault = firstFault(parsed.expr, VARIABLES);
  if (fault !== null) return `${fault.problem} (position ${(parsed.sourceInfo?.positions[fault.id] ?? 0) + 1})`;
  numbered += 1;
  return { run: plan(env, parsed), isDear: isDear(parsed.expr), parts: countParts(parsed.expr), inputs: inputsIn(parsed.expr), number: numbered };
}

/** The parser says `<input>:LINE:COLUMN: what it found`; an expression nested too deep overflows its stack. */
function explain(error: unknown): string {
  if (error instanceof RangeError) return 'nested too deeply (position 1)';
  const told = /^<input>:(\d+):(\d+): (.*)$/su.exec(error instanceof Error ? error.message : '');
  return told === null ? 'does not compile (position 1)' : `line ${told[1]}, position ${told[2]}: ${told[3]}`;
}

const compiled = new LRUCache<string, Compiled | string>({ max: 10_000 });

const compileOnce = (expression: string): Compiled | string => compiled.get(expression) ?? compileNow(expression);

function compileNow(expression: string): Compiled | string {
  const fresh = compile(expression);
  compiled.set(expression, fresh, fresh === TOO_LONG ? { ttl: COMPILE_AGAIN_MS } : {});
  return fresh;
}

export function checkCondition(expression: string): string | null {
  const result = compileOnce(expression);
  return typeof result === 'string' ? result : null;
}

/** What is known of one request's facts: a catalog repeats its conditions, and a failing one is dear. */
interface Evaluation {
  readonly facts: ConditionFacts;
  /** The facts for the library; null until an expression has to be evaluated. */
  bound: Bound | null;
  /** Milliseconds that expressions may still take. */
  budget: number;
  /** Whether anything is false for want of time. */
  isCutShort: boolean;
  readonly results: Map<string, boolean>;
}

interface Bound {
  readonly bindings: Bindings;
  readonly isLarge: boolean;
}

const evaluations = new WeakMap<ConditionFacts, Evaluation>();

/** What came of expressions, by their number and the name of what they saw: turns differ mostly in what no condition looks at. */
const outcomes = new LRUCache<string, boolean>({ max: 20_000 });

/** Objects as maps: members called `constructor` or `$typeName` are ordinary ones. */
function toCel(value: unknown): CelInput {
  if (Array.isArray(value)) return value.map(toCel);
  return isObject(value) ? mapOf(value) : (value as CelInput);
}

/** The library's own map takes a member that is null for an absent one. */
function mapOf(value: JsonObject): CelMap {
  const map = celMap(new Map(Object.entries(value).map(([key, member]) => [key, toCel(member)])));
  return Object.assign(map, { has: (key: Parameters<CelMap['has']>[0]) => map.get(key) !== undefined });
}

function evaluationOf(facts: ConditionFacts): Evaluation {
  const known = evaluations.get(facts);
  if (known !== undefined) return known;
  const fresh: Evaluation = { facts, bound: null, budget: BUDGET_MS, isCutShort: false, results: new Map<string, boolean>() };
  evaluations.set(facts, fresh);
  return fresh;
}

/** One set of bindings for all expressions of a request: `depth` is an int, what is absent stays unset. */
function boundIn(evaluation: Evaluation): Bound {
  const { attributes, model, scene, depth } = evaluation.facts;
  evaluation.bound ??= {
    bindings: { attributes: toCel(attributes), model: toCel(model), depth: BigInt(depth), ...(scene === undefined ? {} : { scene }) },
    isLarge: charactersIn(evaluation.facts) > LARGE_FACTS,
  };
  return evaluation.bound;
}

/** Counted no further than it takes to know. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let sum = 1;
  for (const [key, part] of Object.entries(value)) {
    sum += key.length + charactersIn(part);
    if (sum > LARGE_FACTS) break;
  }
  return sum;
}

export function evaluateCondition(expression: string, facts: ConditionFacts): boolean {
  const evaluation = evaluationOf(facts);
  const known = evaluation.results.get(expression);
  if (known !== undefined) return known;
  const fresh = evaluate(expression, evaluation);
  evaluation.results.set(expression, fresh);
  return fresh;
}

/** Whether a condition on these facts is false only because time ran out: asked again, it may be true. */
export const ranOutOfTime = (facts: ConditionFacts): boolean => evaluations.get(facts)?.isCutShort ?? false;

function evaluate(expression: string, evaluation: Evaluation): boolean {
  try {
    const condition = compiled.get(expression) ?? charged(evaluation, () => compileNow(expression));
    if (condition === TOO_LONG) throw new TookTooLong(TOO_LONG);
    if (typeof condition === 'string') return false;
    const name = nameOf(condition.inputs, evaluation.facts);
    return name === null ? isTrue(condition, evaluation) : isTrueOf(`${condition.number}\n${name}`, condition, evaluation);
  } catch (error) {
    evaluation.isCutShort ||= error instanceof TookTooLong;
    return false;
  }
}

function isTrueOf(name: string, condition: Compiled, evaluation: Evaluation): boolean {
  const known = outcomes.get(name);
  if (known !== undefined) return known;
  const fresh = isTrue(condition, evaluation);
  outcomes.set(name, fresh);
  return fresh;
}

/** Throws `TookTooLong`, so that what was cut short is kept nowhere. */
function isTrue(condition: Compiled, evaluation: Evaluation): boolean {
  const value = withoutTraces(() => run(condition, evaluation));
  return !isCelError(value) && value === true;
}

function run({ run: evaluateIn, isDear: isDearItself, parts }: Compiled, evaluation: Evaluation): unknown {
  const { bindings, isLarge } = boundIn(evaluation);
  const work = (): unknown => evaluateIn(bindings);
  if (isDearItself || isLarge) return charged(evaluation, () => bounded(Math.ceil(Math.min(TIME_LIMIT_MS, evaluation.budget)), work));
  evaluation.budget -= parts * PART_MS;
  if (evaluation.budget < 0) throw new TookTooLong('the budget is spent');
  return work();
}

function charged<T>(evaluation: Evaluation, work: () => T): T {
  if (evaluation.budget <= 0) throw new TookTooLong('the budget is spent');
  const spent = stopwatch();
  try {
    return work();
  } finally {
    evaluation.budget -= spent();
  }
}

/** An error is an ordinary value of an expression, and nine tenths of its cost is a trace that nobody reads. Around the watchdog: what that stops ends without its `finally`. */
function withoutTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
