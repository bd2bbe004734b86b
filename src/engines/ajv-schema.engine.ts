import { Ajv } from 'ajv';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import type { ArgumentFault } from '../core/engines.js';
import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import { pointer } from '../core/text.js';
import { TookTooLong, bounded, stopwatch } from './bounded.js';
import { plainSchema } from './plain-schema.js';
import type { SchemaCost } from './schema-cost.js';
import { costOf, workOf } from './schema-cost.js';
import { isDraft7, outsideReference } from './schema-document.js';
import { nodesIn } from '../core/schema-walk.js';

const COMPILE_LIMIT_MS = 1_000;
/** Parts of one schema from which on code that stops at the first fault is not tried. */
const WIDE = 400;
/** What took longer is not compiled a second time, to find every fault. */
const COMPILE_TWICE_MS = 100;
/** What took too long is tried again after that long. */
const COMPILE_AGAIN_MS = 10_000;
const VALIDATE_LIMIT_MS = 50;
/** Steps that are judged without a watchdog: some milliseconds at the very most. */
const TAME_WORK = 1_000_000;
/** Steps within which every fault is looked for; beyond, the first one is told. */
const THOROUGH_WORK = 20_000;
const MAX_FAULTS = 20;

/** Patterns as ECMAScript has them; those that only work without the `u` flag still count. */
const regExp = Object.assign(
  (pattern: string): RegExp => {
    try {
      return new RegExp(pattern, 'u');
    } catch {
      return new RegExp(pattern);
    }
  },
  { code: 'new RegExp' },
);

/** `format` is an annotation, as draft 2020-12 has it by default. No schema is ever loaded from elsewhere. Optimising the code takes time that grows with its square. */
const OPTIONS: Options = { strict: false, validateFormats: false, validateSchema: false, addUsedSchema: false, logger: false, inlineRefs: false, ownProperties: true, multipleOfPrecision: 12, code: { regExp, optimize: false } };

const metaSchemas = {
  draft7: metaSchema(new Ajv({ ...OPTIONS, meta: true }), 'http://json-schema.org/draft-07/schema'),
  draft2020: metaSchema(new Ajv2020({ ...OPTIONS, meta: true }), 'https://json-schema.org/draft/2020-12/schema'),
};

function metaSchema(ajv: Ajv | Ajv2020, id: string): ValidateFunction {
  const validate = ajv.getSchema(id);
  if (validate === undefined) throw new Error(`no meta-schema ${id}`);
  return validate as ValidateFunction;
}

/** Verdicts on schemas, for as long as the schema itself is kept by somebody. */
const judged = new WeakMap<JsonObject, string | null>();

export function checkSchema(schema: JsonObject): string | null {
  const known = judged.get(schema);
  if (known !== undefined) return known;
  const verdict = judgeSchema(schema);
  judged.set(schema, verdict);
  return verdict;
}

function judgeSchema(schema: JsonObject): string | null {
  const validate = isDraft7(schema) ? metaSchemas.draft7 : metaSchemas.draft2020;
  if (!validate(schema)) {
    const [fault] = faultsOf(validate.errors);
    return fault === undefined ? 'not a valid schema' : `not a valid schema: \`${fault.path}\` ${fault.message}`;
  }
  const outside = outsideReference(schema);
  return outside === null ? null : `\`$ref\` leaves the document: \`${outside}\``;
}

interface Compiled {
  readonly cost: SchemaCost;
  /** Null where the schema can not be applied. */
  readonly fits: ValidateFunction | null;
  /** Looks for every fault; undefined until it is first wanted, null where it can not be made. */
  thorough: ValidateFunction | null | undefined;
}

const compiled = new LRUCache<JsonObject, Compiled | 'too long'>({ max: 2_000 });

function compileOnce(schema: JsonObject): Compiled | 'too long' {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const fresh = compile(schema);
  // The machine may have been busy.
  compiled.set(schema, fresh, fresh === 'too long' ? { ttl: COMPILE_AGAIN_MS } : {});
  return fresh;
}

function compile(schema: JsonObject): Compiled | 'too long' {
  const watch = stopwatch();
  try {
    const cost = costOf(schema);
    const fits = cost.width > WIDE ? null : build(schema, false, COMPILE_LIMIT_MS);
    const spent = watch();
    if (fits !== null) return { cost, fits, thorough: spent > COMPILE_TWICE_MS ? null : undefined };
    // What stops at the first fault is code nested as deep as the schema is wide, which may be too deep; this is flat, and makes a fault of each step.
    const thorough = build(schema, true, Math.max(1, COMPILE_LIMIT_MS - spent));
    return { cost: { ...cost, steps: cost.steps * (TAME_WORK / THOROUGH_WORK) }, fits: thorough, thorough: null };
  } catch {
    return 'too long';
  }
}

/** An instance for each schema: nothing of one tenant's schema (an `$id`, say) is ever seen by another's. Throws when it takes too long. */
function build(schema: JsonObject, allErrors: boolean, milliseconds: number): ValidateFunction | null {
  try {
    return bounded(Math.ceil(milliseconds), () => {
      const options = { ...OPTIONS, allErrors, meta: false };
      const ajv = isDraft7(schema) ? new Ajv({ ...options, ...ALONE_BESIDE_REFERENCE }) : new Ajv2020(options);
      for (const keyword of FOREIGN) ajv.removeKeyword(keyword);
      return ajv.compile(plainSchema(schema));
    });
  } catch (error) {
    if (error instanceof TookTooLong) throw error;
    return null;
  }
}

/** As draft-07 has it; the engine means to do without in its next version. */
const ALONE_BESIDE_REFERENCE = { ignoreKeywordsWithRef: true };

/** Keywords of the engine that neither draft has. */
const FOREIGN = ['id', '$recursiveRef', '$recursiveAnchor'];

const NOT_APPLICABLE: readonly ArgumentFault[] = [{ path: '', message: 'the schema of the tool can not be applied' }];
const TOO_LONG: readonly ArgumentFault[] = [{ path: '', message: 'the arguments take too long to judge' }];

export function validateArguments(schema: JsonObject, value: unknown): readonly ArgumentFault[] {
  const known = compileOnce(schema);
  if (known === 'too long') return TOO_LONG;
  const { fits, cost } = known;
  if (fits === null) return NOT_APPLICABLE;
  const work = workOf(cost, nodesIn(value), charactersIn(value));
  const faults = judge(fits, value, work);
  if (faults.length === 0 || work > THOROUGH_WORK) return faults;
  if (known.thorough === undefined) known.thorough = thoroughly(schema);
  return known.thorough === null ? faults : judge(known.thorough, value, work);
}

function thoroughly(schema: JsonObject): ValidateFunction | null {
  try {
    return build(schema, true, COMPILE_LIMIT_MS);
  } catch {
    return null;
  }
}

function judge(validate: ValidateFunction, value: unknown, work: number): readonly ArgumentFault[] {
  try {
    const verdict: unknown = work <= TAME_WORK ? validate(value) : bounded(VALIDATE_LIMIT_MS, () => validate(value));
    if (verdict === true) return [];
    const faults = faultsOf(validate.errors);
    return faults.length === 0 ? NOT_APPLICABLE : faults;
  } catch (error) {
    return error instanceof TookTooLong ? TOO_LONG : NOT_APPLICABLE;
  } finally {
    validate.errors = null;
  }
}

function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce((sum, [key, part]) => sum + key.length + charactersIn(part), 0);
}

const faultsOf = (errors: readonly ErrorObject[] | null | undefined): ArgumentFault[] => (errors ?? []).slice(0, MAX_FAULTS).map(faultOf);

const NAMED_MEMBERS = ['missingProperty', 'additionalProperty', 'unevaluatedProperty', 'propertyName'];

/** The path names the member that is missing or too many, not only the object around it. */
function faultOf({ instancePath, params, message }: ErrorObject): ArgumentFault {
  const member = isObject(params) ? NAMED_MEMBERS.map((key) => params[key]).find((name) => typeof name === 'string') : undefined;
  return { path: typeof member === 'string' ? pointer(instancePath, member) : instancePath, message: message ?? 'does not fit' };
}
