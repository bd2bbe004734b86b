import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import type { Limits } from '../config/config.js';
import { AppError } from '../errors/app-error.js';
import type { FieldFault } from '../errors/app-error.js';
import { faultsBy, faultsOfNoBody, longerThan } from './body-shape.js';

const isClass = (type: unknown): type is Type<object> => typeof type === 'function' && ![String, Boolean, Number, Array, Object].includes(type as never);

/** Checks bodies (422) and queries (400) by their classes. Both are handed on as they came: absent stays absent, null stays null. */
export class StrictValidationPipe implements PipeTransform {
  constructor(private readonly limits: Limits) {}

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !isClass(metatype)) return value;
    requireFaultless(type === 'body' ? 'INVALID_REQUEST' : 'INVALID_QUERY', faultsBy(metatype, value));
    const tooLong = longerThan(this.limits.listLength, metatype, value);
    if (tooLong !== null) throw new AppError('LIMIT_EXCEEDED', `\`${tooLong}\` has more than ${this.limits.listLength} members`);
    return value;
  }
}

/** For a route that takes no body. */
export const requireNoBody = (body: unknown): void => requireFaultless('INVALID_REQUEST', faultsOfNoBody(body));

function requireFaultless(code: 'INVALID_REQUEST' | 'INVALID_QUERY', faults: readonly FieldFault[]): void {
  const [first] = faults;
  if (first !== undefined) throw new AppError(code, `${first.path === '' ? 'the body' : first.path}: ${first.message}`, faults);
}
