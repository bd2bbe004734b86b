import { celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import type { CelInput } from '@bufbuild/cel';
import { LRUCache } from 'lru-cache';
import type { ConditionFacts } from '../core/engines.js';
import { bounded } from './bounded.js';

const env = celEnv();
const TIME_LIMIT_MS = 20;
const VARIABLES = new Set(['attributes', 'scene', 'model', 'depth']);
const TYPES = new Set(['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint']);
/** Operators that the planner knows itself, beside the functions of the environment. */
const OPERATORS = new Set(['_&&_', '_||_', '_?_:_', '_[_]', '@not_strictly_false']);

type Expr = ReturnType<typeof parse>['expr'];
type Bindings = Record<string, CelInput>;

interface Compiled {
  readonly run: (bindings: Bindings) => unknown;
  /** Loops over what the caller sends: bounded when it runs. */
  readonly loops: boolean;
}

interface Place {
  readonly id: number;
  readonly problem: string;
}

/** Everything of an expression, depth first, with the variables that are bound there. */
function firstFault(expr: Expr, bound: ReadonlySet<string>): Place | null {
  const { id, exprKind } = expr;
  const inside = (parts: readonly (Expr | undefined)[], names = bound): Place | null => {
    for (const part of parts) {
      const fault = part === undefined ? null : firstFault(part, names);
      if (fault !== null) return fault;
    }
    return null;
  };
  const at = (problem: string): Place => ({ id: Number(id), problem });
  switch (exprKind.case) {
    case 'identExpr': {
      const name = exprKind.value.name.replace(/^\./u, '');
      return bound.has(name) || TYPES.has(name) ? null : at(`\`${name}\` is not known here`);
    }
    case 'selectExpr':
      return inside([exprKind.value.operand]);
    case 'callExpr': {
      const { function: name, target, args } = exprKind.value;
      if (!OPERATORS.has(name) && env.funcs.find(name) === undefined) return at(`there is no function \`${name}\``);
      return inside([target, ...args]);
    }
    case 'listExpr':
      return inside(exprKind.value.elements);
    case 'structExpr':
      if (exprKind.value.messageName !== '') return at(`there is no type \`${exprKind.value.messageName}\``);
      return inside(exprKind.value.entries.flatMap(({ keyKind, value }) => [keyKind.case === 'mapKey' ? keyKind.value : undefined, value]));
    case 'comprehensionExpr': {
      const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return inside([iterRange, accuInit]) ?? inside([loopCondition, loopStep, result], new Set([...bound, iterVar, iterVar2, accuVar]));
    }
    case 'constExpr':
    case undefined:
      return null;
  }
}

const LOOP = /\.\s*(?:all|exists|exists_one|filter|map)\s*\(/u;

function compile(expression: string): Compiled | string {
  try {
    const parsed = parse(expression);
    const fault = firstFault(parsed.expr, VARIABLES);
    if (fault !== null) return `${fault.problem} (position ${(parsed.sourceInfo?.positions[fault.id] ?? 0) + 1})`;
    return { run: plan(env, parsed), loops: LOOP.test(expression) };
  } catch (error) {
    return explain(error);
  }
}

/** The parser says `<input>:LINE:COLUMN: what it found`; an expression nested too deep overflows its stack. */
function explain(error: unknown): string {
  if (error instanceof RangeError) return 'nested too deeply (position 1)';
  const told = /^<input>:(\d+):(\d+): (.*)$/su.exec(error instanceof Error ? error.message : '');
  return told === null ? 'does not compile (position 1)' : `line ${told[1]}, position ${told[2]}: ${told[3]}`;
}

const compiled = new LRUCache<string, Compiled | string>({ max: 10_000 });

function compileOnce(expression: string): Compiled | string {
  const known = compiled.get(expression);
  if (known !== undefined) return known;
  const fresh = compile(expression);
  compiled.set(expression, fresh);
  return fresh;
}

export function checkCondition(expression: string): string | null {
  const result = compile(expression);
  return typeof result === 'string' ? result : null;
}

const bindings = new WeakMap<ConditionFacts, Bindings>();

/** One set of bindings for all expressions of a request: `depth` is an int, what is absent stays unset. */
function bindingsOf(facts: ConditionFacts): Bindings {
  const known = bindings.get(facts);
  if (known !== undefined) return known;
  const fresh = { ...facts, depth: BigInt(facts.depth) } as unknown as Bindings;
  bindings.set(facts, fresh);
  return fresh;
}

export function evaluateCondition(expression: string, facts: ConditionFacts): boolean {
  const condition = compileOnce(expression);
  if (typeof condition === 'string') return false;
  const run = (): unknown => condition.run(bindingsOf(facts));
  try {
    const value = condition.loops ? bounded(TIME_LIMIT_MS, run) : run();
    return !isCelError(value) && value === true;
  } catch {
    return false;
  }
}
