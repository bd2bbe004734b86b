import type { Type } from '@nestjs/common';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { ValidationError } from 'class-validator';
import { isObject, own } from '../../core/json.js';
import type { JsonObject } from '../../core/json.js';
import { pointer } from '../../core/text.js';
import type { FieldFault } from '../errors/app-error.js';

/** What a member holds: names, one of another class, a list of it, or a map from names (whatever they are) to it. */
export type Nesting = { readonly kind: 'names' } | { readonly kind: 'one' | 'list' | 'map'; readonly type: () => Type<object> };

const NESTING = Symbol('nesting');

/** Remembers what a member holds; its own decorator says what it must be. */
export function holds(target: object, property: string | symbol, nesting: Nesting): void {
  Reflect.defineMetadata(NESTING, nesting, target, property);
}

const known = new Map<Type<object>, ReadonlySet<string>>();

function membersOf(type: Type<object>): ReadonlySet<string> {
  const found = known.get(type) ?? new Set(getMetadataStorage().getTargetValidationMetadatas(type, '', true, false).map(({ propertyName }) => propertyName));
  known.set(type, found);
  return found;
}

const NO_OBJECT: FieldFault = { path: '', message: 'a JSON object is required' };

/**
 * Everything about `value` that the class does not allow: wrong types, missing members and unknown ones. Members are read as
 * the value's own, so one that is called `constructor` or `__proto__` is unknown, or ordinary, like all the others.
 */
export function faultsBy(type: Type<object>, value: unknown, at = ''): FieldFault[] {
  if (!isObject(value)) return [at === '' ? NO_OBJECT : { path: at, message: 'must be an object' }];
  const members = membersOf(type);
  const stray = Object.keys(value).filter((key) => !members.has(key));
  const instance = Object.assign(new type(), Object.fromEntries(Object.entries(value).filter(([key]) => members.has(key))));
  return [
    ...stray.map(strayAt(at)),
    ...validateSync(instance, { forbidUnknownValues: false }).flatMap((error) => told(error, at, Object.hasOwn(value, error.property))),
    ...[...members].flatMap((member) => nestedFaults(type, member, value, pointer(at, member))),
  ];
}

const strayAt = (at: string) => (key: string): FieldFault => ({ path: pointer(at, key), message: `\`${key}\` is not a known member` });

/** The faults of a body where none is taken: none is sent, or an empty object. A member that passed in silence may have been meant. */
export function faultsOfNoBody(body: unknown): FieldFault[] {
  if (body === undefined) return [];
  return isObject(body) ? Object.keys(body).map(strayAt('')) : [NO_OBJECT];
}

function told({ property, constraints }: ValidationError, at: string, isThere: boolean): FieldFault[] {
  const path = pointer(at, property);
  return isThere ? Object.values(constraints ?? {}).map((message) => ({ path, message })) : [{ path, message: `\`${property}\` is required` }];
}

/** What a member must be itself is its own rule's to say: here only what stands inside is looked at. */
function nestedFaults(type: Type<object>, member: string, value: JsonObject, at: string): FieldFault[] {
  return innerValues(type, member, value, at).flatMap(({ inner, item, path }) => faultsBy(inner, item, path));
}

interface InnerValue {
  readonly inner: Type<object>;
  readonly item: unknown;
  readonly path: string;
}

const nestingOf = (type: Type<object>, member: string): Nesting | undefined => Reflect.getMetadata(NESTING, type.prototype as object, member) as Nesting | undefined;

/** The values of other classes that stand in a member; none where it is not of the shape that it should have. */
function innerValues(type: Type<object>, member: string, value: JsonObject, at: string): InnerValue[] {
  const nesting = nestingOf(type, member);
  const held = own(value, member);
  if (nesting === undefined || nesting.kind === 'names' || typeof held !== 'object' || held === null || Array.isArray(held) !== (nesting.kind === 'list')) return [];
  const inner = nesting.type();
  if (nesting.kind === 'one') return [{ inner, item: held, path: at }];
  const items = Object.entries(held) as [string, unknown][];
  return items.filter(([, item]) => nesting.kind === 'list' || item !== null).map(([key, item]) => ({ inner, item, path: pointer(at, key) }));
}

/** The path of the first list or map that holds more than the limit, or null. Free-form members have no such limit. */
export function longerThan(limit: number, type: Type<object>, value: unknown, at = ''): string | null {
  if (!isObject(value)) return null;
  for (const member of membersOf(type)) {
    const path = pointer(at, member);
    const held = own(value, member);
    if (nestingOf(type, member) !== undefined && typeof held === 'object' && held !== null && Object.keys(held).length > limit) return path;
    for (const { inner, item, path: place } of innerValues(type, member, value, path)) {
      const found = longerThan(limit, inner, item, place);
      if (found !== null) return found;
    }
  }
  return null;
}
