import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject } from '../core/json.js';
import type { CheckInput, DecideInput } from '../core/request.js';
import { pointer } from '../core/text.js';
import type { Limits } from '../platform/config/config.js';
import type { FieldFault } from '../platform/errors/app-error.js';
import { AppError } from '../platform/errors/app-error.js';
import { batchSchema, checkSchema, decideSchema } from './request.schema.js';

export interface WithMinRevision {
  readonly minRevision?: number | null;
}

/** Reads the bodies of the hot path by their compiled schemas. Each throws `INVALID_REQUEST` with every fault. */
export class RequestReader {
  private readonly decide: ValidateFunction;
  private readonly batch: ValidateFunction;
  private readonly check: ValidateFunction;

  constructor(private readonly limits: Limits) {
    const ajv = new Ajv2020({ allErrors: true, strict: false });
    this.decide = ajv.compile(decideSchema(limits));
    this.batch = ajv.compile(batchSchema(limits));
    this.check = ajv.compile(checkSchema(limits));
  }

  readDecide = (body: unknown): DecideInput & WithMinRevision => valid(this.decide, body) as DecideInput & WithMinRevision;

  readCheck = (body: unknown): CheckInput & WithMinRevision => valid(this.check, body) as CheckInput & WithMinRevision;

  readBatch(body: unknown): readonly unknown[] {
    const requests = isObject(body) ? body['requests'] : undefined;
    if (Array.isArray(requests) && requests.length > this.limits.batchSize) {
      throw new AppError('LIMIT_EXCEEDED', `a batch holds at most ${this.limits.batchSize} requests`);
    }
    return (valid(this.batch, body) as { requests: unknown[] }).requests;
  }
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
