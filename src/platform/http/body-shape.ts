import type { Type } from '@nestjs/common';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { ValidationError } from 'class-validator';
import { isObject } from '../../core/json.js';
import type { JsonObject } from '../../core/json.js';
import type { FieldFault } from '../errors/app-error.js';

/** How a member holds other classes: one, a list of them, or a map from names (whatever they are) to them. */
export interface Nesting {
  readonly kind: 'one' | 'list' | 'map';
  readonly type: () => Type<object>;
}

const NESTING = Symbol('nesting');

/** Remembers what a member holds; its own decorator says what it must be. */
export function holds(target: object, property: string | symbol, nesting: Nesting): void {
  Reflect.defineMetadata(NESTING, nesting, target, property);
}

const pointer = (at: string, member: string): string => `${at}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;

const known = new Map<Type<object>, ReadonlySet<string>>();

function membersOf(type: Type<object>): ReadonlySet<string> {
  const found = known.get(type) ?? new Set(getMetadataStorage().getTargetValidationMetadatas(type, '', true, false).map(({ propertyName }) => propertyName));
  known.set(type, found);
  return found;
}

/**
 * Everything about `value` that the class does not allow: wrong types, missing members and unknown ones. Members are read as
 * the value's own, so one that is called `constructor` or `__proto__` is as unknown, or as ordinary, as any other.
 */
export function faultsBy(type: Type<object>, value: unknown, at = ''): FieldFault[] {
  if (!isObject(value)) return [{ path: at, message: at === '' ? 'a JSON object is required' : 'must be an object' }];
  const members = membersOf(type);
  const stray = Object.keys(value).filter((key) => !members.has(key));
  const instance = Object.assign(new type(), Object.fromEntries(Object.entries(value).filter(([key]) => members.has(key))));
  return [
    ...stray.map((key) => ({ path: pointer(at, key), message: `\`${key}\` is not a known member` })),
    ...validateSync(instance, { forbidUnknownValues: false }).flatMap((error) => told(error, at)),
    ...[...members].flatMap((member) => nestedFaults(type, member, value, pointer(at, member))),
  ];
}

const told = ({ property, constraints }: ValidationError, at: string): FieldFault[] =>
  Object.values(constraints ?? {}).map((message) => ({ path: pointer(at, property), message }));

/** What a member must be itself is its own rule's to say: here only what stands inside is looked at. */
function nestedFaults(type: Type<object>, member: string, value: JsonObject, at: string): FieldFault[] {
  const nesting = Reflect.getMetadata(NESTING, type.prototype as object, member) as Nesting | undefined;
  const held = Object.hasOwn(value, member) ? value[member] : undefined;
  if (nesting === undefined || held === undefined || held === null) return [];
  const inner = nesting.type();
  if (nesting.kind === 'one') return isObject(held) ? faultsBy(inner, held, at) : [];
  if (nesting.kind === 'list') return Array.isArray(held) ? held.flatMap((item, i) => faultsBy(inner, item, pointer(at, String(i)))) : [];
  return isObject(held) ? Object.entries(held).flatMap(([name, item]) => (item === null ? [] : faultsBy(inner, item, pointer(at, name)))) : [];
}

/** The first list of names, or object from names, that is longer than the limit. */
export function longerThan(limit: number, value: unknown, at = ''): string | null {
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
