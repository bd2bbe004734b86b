import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import type { ValidationError } from 'class-validator';
import { validateSync } from 'class-validator';
import { isObject } from '../../core/json.js';
import type { Limits } from '../config/config.js';
import type { FieldFault } from '../errors/app-error.js';
import { AppError } from '../errors/app-error.js';

const pointer = (at: string, member: string): string => `${at}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function flatten(errors: readonly ValidationError[], at = ''): FieldFault[] {
  return errors.flatMap(({ property, constraints, children }) => {
    const path = pointer(at, property);
    return [...messagesOf(property, constraints).map((message) => ({ path, message })), ...flatten(children ?? [], path)];
  });
}

const messagesOf = (property: string, constraints: ValidationError['constraints']): string[] =>
  Object.entries(constraints ?? {}).map(([rule, message]) => (rule === 'whitelistValidation' ? `\`${property}\` is not a known member` : message));

/** Everything about `value` that the class does not allow: wrong types, missing members and unknown ones. */
export function faultsBy(type: Type<object>, value: unknown): FieldFault[] {
  if (!isObject(value)) return [{ path: '', message: 'a JSON object is required' }];
  const instance = plainToInstance(type, value, { exposeDefaultValues: false });
  return flatten(validateSync(instance, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true }));
}

const isClass = (type: unknown): type is Type<object> => typeof type === 'function' && ![String, Boolean, Number, Array, Object].includes(type as never);

/**
 * Checks bodies (422) and queries (400) by their classes. A body is handed on as it came, not as the class made it:
 * absent stays absent, null stays null, and no name is special.
 */
export class StrictValidationPipe implements PipeTransform {
  constructor(private readonly limits: Limits) {}

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !isClass(metatype)) return value;
    const faults = faultsBy(metatype, value);
    const [first] = faults;
    if (first !== undefined) throw new AppError(type === 'body' ? 'INVALID_REQUEST' : 'INVALID_QUERY', `${first.path === '' ? 'the body' : first.path}: ${first.message}`, faults);
    if (type === 'query') return plainToInstance(metatype, value);
    const tooLong = longerThan(this.limits.listLength, value);
    if (tooLong !== null) throw new AppError('LIMIT_EXCEEDED', `\`${tooLong}\` has more than ${this.limits.listLength} names`);
    return value;
  }
}

/** The first list of names, or object from names, that is longer than the limit. */
function longerThan(limit: number, value: unknown, at = ''): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value);
  const ofNames = !Array.isArray(value) || typeof value[0] === 'string';
  if (ofNames && entries.length > limit) return at;
  for (const [key, member] of entries) {
    const found = longerThan(limit, member, pointer(at, key));
    if (found !== null) return found;
  }
  return null;
}
