import { Ajv } from 'ajv';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import type { ArgumentFault } from '../core/engines.js';
import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import { pointer } from '../core/text.js';
import { TookTooLong, bounded } from './bounded.js';
import type { SchemaCost } from './schema-cost.js';
import { costOf, workOf } from './schema-cost.js';
import { mapSchemas, nodesIn } from '../core/schema-walk.js';
import { outsideReference } from './schema-walk.js';

const COMPILE_LIMIT_MS = 500;
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

/** `format` is an annotation, as draft 2020-12 has it by default. No schema is ever loaded from elsewhere. */
const OPTIONS: Options = { strict: false, validateFormats: false, validateSchema: false, addUsedSchema: false, logger: false, inlineRefs: false, ownProperties: true, multipleOfPrecision: 12, code: { regExp } };

const isDraft7 = ({ $schema }: JsonObject): boolean => typeof $schema === 'string' && /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/u.test($schema);

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

const compiled = new LRUCache<JsonObject, Compiled>({ max: 2_000 });

/** An instance for each schema: nothing of one tenant's schema (an `$id`, say) is ever seen by another's. */
function compile(schema: JsonObject, allErrors: boolean): ValidateFunction | null {
  const draft7 = isDraft7(schema);
  try {
    return bounded(COMPILE_LIMIT_MS, () => {
      const applied = mapSchemas(schema, (one) => withoutForeignKeywords(one, draft7));
      return new (draft7 ? Ajv : Ajv2020)({ ...OPTIONS, allErrors, meta: false }).compile(applied);
    });
  } catch {
    return null;
  }
}

/** The engine gives these a meaning that the drafts do not have: OpenAPI's, other drafts', and its own. */
const FOREIGN = new Set(['nullable', 'id', '$recursiveRef', '$recursiveAnchor', '$async', '$schema']);

function withoutForeignKeywords(schema: JsonObject, draft7: boolean): JsonObject {
  if (namesPrototype(schema)) throw new Error('the engine skips members called `__proto__`');
  const { $ref, definitions, $defs } = schema;
  // Beside a reference that draft knows nothing else.
  if (draft7 && typeof $ref === 'string') return { $ref, ...(isObject(definitions) && { definitions }), ...(isObject($defs) && { $defs }) };
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !FOREIGN.has(keyword)));
}

const namesPrototype = (schema: JsonObject): boolean =>
  ['properties', 'dependentSchemas', 'dependentRequired', 'dependencies', 'patternProperties'].some((key) => isObject(schema[key]) && Object.hasOwn(schema[key], '__proto__'));

const NOT_APPLICABLE: readonly ArgumentFault[] = [{ path: '', message: 'the schema of the tool can not be applied' }];
const TOO_LONG: readonly ArgumentFault[] = [{ path: '', message: 'the arguments take too long to judge' }];

export function validateArguments(schema: JsonObject, value: unknown): readonly ArgumentFault[] {
  const known = compiled.get(schema) ?? { cost: costOf(schema), fits: compile(schema, false), thorough: undefined };
  compiled.set(schema, known);
  const { fits, cost } = known;
  if (fits === null) return NOT_APPLICABLE;
  const work = workOf(cost, nodesIn(value), charactersIn(value));
  const faults = judge(fits, value, work);
  if (faults.length === 0 || work > THOROUGH_WORK) return faults;
  if (known.thorough === undefined) known.thorough = compile(schema, true);
  return known.thorough === null ? faults : judge(known.thorough, value, work);
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
