import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { pointer } from '../core/text.js';
import type { FieldFault } from '../platform/errors/app-error.js';
import { AppError } from '../platform/errors/app-error.js';
import type { RequestSchema } from './request.schema.js';

/** Reads bodies of one shape; throws `INVALID_REQUEST` with every fault. */
export type ReadBody<T> = (body: unknown) => T;

const ajv = new Ajv2020({ allErrors: true, strict: false });

/** The reader of bodies that fit the schema, which is compiled once. `T` is the schema in types. */
export function bodyReader<T>(schema: RequestSchema): ReadBody<T> {
  const validate = ajv.compile(schema);
  return (body) => valid(validate, body) as T;
}

function valid(validate: ValidateFunction, body: unknown): unknown {
  if (validate(body)) return body;
  // A member that is not known first: it is often the one that is missing, misspelt.
  const errors = [...(validate.errors ?? [])].sort((a, b) => Number(b.keyword === 'additionalProperties') - Number(a.keyword === 'additionalProperties'));
  const faults = errors.map(faultOf);
  validate.errors = null;
  const { path, message } = faults[0] ?? { path: '', message: 'is not valid' };
  throw new AppError('INVALID_REQUEST', `${path === '' ? 'the body' : path}: ${message}`, faults);
}

function faultOf({ instancePath, keyword, params, message }: ErrorObject): FieldFault {
  if (keyword === 'additionalProperties') return { path: pointer(instancePath, String(params['additionalProperty'])), message: `\`${String(params['additionalProperty'])}\` is not a known member` };
  if (keyword === 'required') return { path: pointer(instancePath, String(params['missingProperty'])), message: 'is required' };
  if (keyword === 'enum') return { path: instancePath, message: `must be one of ${(params['allowedValues'] as (string | null)[]).filter((value) => value !== null).join(', ')}` };
  return { path: instancePath, message: message ?? 'is not valid' };
}
