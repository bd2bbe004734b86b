import { expect } from '@jest/globals';
import type { Case, Step } from './case-file.js';

type Json = Record<string, unknown>;

/** Where cases run: on the core with its in-memory twins, or over HTTP. An error is answered as `{error: CODE}`. */
export interface World {
  do(step: Step): Promise<Json>;
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `CODE` or `stage/CODE`, for each name: exactly these names. */
function reasons(got: unknown, wanted: Json): Json {
  return Object.fromEntries(Object.entries((got ?? {}) as Record<string, Json>).map(([name, { code, stage }]) => {
    const withStage = typeof wanted[name] === 'string' && (wanted[name]).includes('/');
    return [name, withStage ? `${String(stage)}/${String(code)}` : code];
  }));
}

/** How a case says that a member is not there, which is not the same as null. */
const ABSENT = '(absent)';

/** A subset of objects, whole lists; a list of `{…}` is compared item by item. */
function compare(got: unknown, wanted: unknown, at: string): void {
  if (wanted === ABSENT) {
    expect({ at, got }).toEqual({ at, got: undefined });
    return;
  }
  if (Array.isArray(wanted) && Array.isArray(got) && wanted.some(isObject)) {
    expect({ at, length: got.length }).toEqual({ at, length: wanted.length });
    wanted.forEach((item, i) => compare(got[i], item, `${at}[${i}]`));
  } else if (isObject(wanted) && Object.keys(wanted).length > 0) {
    expect({ at, isObject: isObject(got) }).toEqual({ at, isObject: true });
    for (const [key, value] of Object.entries(wanted)) compare(Object.hasOwn(got as Json, key) ? (got as Json)[key] : undefined, value, `${at}.${key}`);
  } else {
    expect({ at, value: got === undefined ? ABSENT : got }).toEqual({ at, value: wanted });
  }
}

function judge(answer: Json, want: Json, at: string): void {
  const { disabledReasons, ...rest } = want;
  if (answer['error'] !== undefined && want['error'] === undefined) throw new Error(`${at}: ${JSON.stringify(answer)}`);
  if (disabledReasons !== undefined) expect({ at, reasons: reasons(answer['disabledReasons'], disabledReasons as Json) }).toEqual({ at, reasons: disabledReasons });
  for (const [key, value] of Object.entries(rest)) compare(answer[key], value, `${at}: ${key}`);
}

export async function runCase({ steps }: Case, world: World): Promise<void> {
  for (const [i, step] of steps.entries()) judge(await world.do(step), step.want, `step ${i + 1} (${step.action})`);
}
