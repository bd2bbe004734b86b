import { Ajv } from 'ajv';
import type { ErrorObject, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import type { ArgumentFault } from '../core/engines.js';
import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import { TookTooLong, bounded } from './bounded.js';
import type { SchemaCost } from './schema-cost.js';
import { costOf, workOf } from './schema-cost.js';
import { mapSchemas, nodesIn, outsideReference } from './schema-walk.js';

const COMPILE_LIMIT_MS = 500;
const VALIDATE_LIMIT_MS = 50;
/** Steps that are judged without a watchdog: a few milliseconds at the very most. */
const TAME_WORK = 200_000;
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
const OPTIONS: Options = { strict: false, allErrors: true, validateFormats: false, validateSchema: false, addUsedSchema: false, logger: false, inlineRefs: false, ownProperties: true, multipleOfPrecision: 9, code: { regExp } };

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
  /** Null where the schema can not be applied. */
  readonly validate: ValidateFunction | null;
  readonly cost: SchemaCost;
}

const compiled = new LRUCache<JsonObject, Compiled>({ max: 2_000 });

/** An instance for each schema: nothing of one tenant's schema (an `$id`, say) is ever seen by another's. */
function compile(schema: JsonObject): Compiled {
  const Engine = isDraft7(schema) ? Ajv : Ajv2020;
  const cost = costOf(schema);
  try {
    return { cost, validate: bounded(COMPILE_LIMIT_MS, () => new Engine({ ...OPTIONS, meta: false }).compile(mapSchemas(schema, withoutForeignKeywords))) };
  } catch {
    return { cost, validate: null };
  }
}

/** The engine gives these a meaning that the drafts do not: `nullable` is OpenAPI's, and `$schema` names a loaded one. */
function withoutForeignKeywords({ nullable: _, $schema: __, ...schema }: JsonObject): JsonObject {
  if (namesPrototype(schema)) throw new Error('the engine skips members called `__proto__`');
  return schema;
}

const namesPrototype = (schema: JsonObject): boolean =>
  ['properties', 'dependentSchemas', 'dependentRequired', 'dependencies', 'patternProperties'].some((key) => isObject(schema[key]) && Object.hasOwn(schema[key], '__proto__'));

export function validateArguments(schema: JsonObject, value: unknown): readonly ArgumentFault[] {
  const known = compiled.get(schema) ?? compile(schema);
  compiled.set(schema, known);
  const { validate } = known;
  if (validate === null) return [{ path: '', message: 'the schema of the tool can not be applied' }];
  const tame = workOf(known.cost, nodesIn(value), charactersIn(value)) <= TAME_WORK;
  try {
    const fits = tame ? validate(value) : bounded(VALIDATE_LIMIT_MS, () => validate(value));
    return fits ? [] : faultsOf(validate.errors);
  } catch (error) {
    return [{ path: '', message: error instanceof TookTooLong ? 'the arguments take too long to judge' : 'the schema of the tool can not be applied' }];
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
  const path = typeof member === 'string' ? `${instancePath}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}` : instancePath;
  return { path, message: message ?? 'does not fit' };
}
