import type { parse } from '@bufbuild/cel';
import type { ConditionFacts } from '../core/engines.js';
import { isObject } from '../core/json.js';

type Expr = ReturnType<typeof parse>['expr'];

/** A variable of an expression, and the members that are selected of it one in the other: `attributes.plan.name`. */
export type Input = readonly [variable: string, ...members: string[]];

/** Characters of a name for inputs, beyond which there is none: what is large seldom comes again. */
const MAX_CHARACTERS = 256;

/** No JSON begins like it: what is absent is never taken for something that is there. */
const ABSENT = '~';

/** The longest chain of selections that the expression is, null for anything else. */
export function inputOf(expr: Expr): Input | null {
  const { case: kind, value } = expr.exprKind;
  if (kind === 'identExpr') return [value.name.replace(/^\./u, '')];
  if (kind !== 'selectExpr' || value.operand === undefined) return null;
  const operand = inputOf(value.operand);
  return operand && [...operand, value.field];
}

/**
 * Names what an expression finds at its inputs, so that facts of the same name give it the same value: an expression sees the
 * facts through its inputs alone. Null where that can not be said in short.
 */
export function nameOf(inputs: readonly Input[], facts: ConditionFacts): string | null {
  let name = '';
  for (const input of inputs) {
    const found = foundAt(input, facts);
    if (found === null) return null;
    name += `${found}\n`;
  }
  return name.length <= MAX_CHARACTERS ? name : null;
}

/** JSON for what is there, else how far the members led; null for an object, and for what selects of something else than an object. */
function foundAt(input: Input, facts: ConditionFacts): string | null {
  let at: unknown = facts;
  for (let i = 0; i < input.length; i += 1) {
    const member = input[i];
    if (!isObject(at)) return null;
    if (member === undefined || !Object.hasOwn(at, member) || at[member] === undefined) return `${ABSENT}${i}`;
    at = at[member];
  }
  return isPlain(at) || (Array.isArray(at) && at.every(isPlain)) ? JSON.stringify(at) : null;
}

/** What JSON tells apart from all others: it writes both zeros as one, and what is no number as null. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}
