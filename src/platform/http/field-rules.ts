import { applyDecorators } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { ApiProperty } from '@nestjs/swagger';
import type { ValidationArguments } from 'class-validator';
import { IsArray, IsBoolean, IsIn, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min, ValidateBy } from 'class-validator';
import { isObject } from '../../core/json.js';
import { holds } from './body-shape.js';
import type { Nesting } from './body-shape.js';

/**
 * class-validator's rules as this service words them: null means absent wherever a member is optional. What a rule demands of a
 * text or a number it tells the document itself, so that the two can not differ.
 */

const says = (rule: string) => ({ property }: ValidationArguments): string => `\`${property}\` must be ${rule}`;

/** Adds to what the document says of the member; its own decorator stands above and says the rest. */
const Published = (schema: ApiPropertyOptions): PropertyDecorator => ApiProperty(schema);

export const Optional = (): PropertyDecorator => IsOptional();

/** No NUL and no half of a surrogate pair: neither could be stored and read back as it is. */
const STORABLE = /^[^\0\p{Cs}]*$/u;

export const Text = (): PropertyDecorator =>
  applyDecorators(IsString({ message: says('a string') }), Matches(STORABLE, { message: says('free of NUL characters and unpaired surrogates') }));

/** Not blank, no control characters, well-formed Unicode. */
const LINE = /^(?=.*\S)[^\p{Cc}\p{Cs}]+$/u;

/** The same for the document, in the words that every dialect of patterns has. What is no Unicode can not be written in JSON that is. */
const LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$';

export const lineSchema = (maxLength: number): { type: 'string'; minLength: number; maxLength: number; pattern: string } => ({ type: 'string', minLength: 1, maxLength, pattern: LINE_PATTERN });

export const Line = (maxLength: number): PropertyDecorator =>
  applyDecorators(
    Published({ minLength: 1, maxLength, pattern: LINE_PATTERN }),
    Matches(LINE, { message: says('a non-blank string without control characters') }),
    MaxLength(maxLength, { message: says(`at most ${maxLength} characters long`) }),
  );

/** Whether it is one, its length counted as JSON Schema does: in characters of Unicode. */
export const isLine = (text: string, maxLength: number): boolean => LINE.test(text) && Array.from(text).length <= maxLength;

export const Flag = (): PropertyDecorator => IsBoolean({ message: says('true or false') });

export const WholeNumber = (min: number, max: number): PropertyDecorator =>
  applyDecorators(Published({ minimum: min, maximum: max }), IsInt({ message: says('a whole number') }), Min(min, { message: says(`at least ${min}`) }), Max(max, { message: says(`at most ${max}`) }));

export const OneOf = (values: readonly string[]): PropertyDecorator => IsIn([...values], { message: says(`one of ${values.join(', ')}`) });

export const ListOf = (values: readonly string[]): PropertyDecorator =>
  applyDecorators(IsArray({ message: says('a list') }), IsIn([...values], { each: true, message: says(`a list of ${values.join(', ')}`) }));

export const Anything = (): PropertyDecorator => ValidateBy({ name: 'anything', validator: { validate: () => true } });

const AnObject = (): PropertyDecorator =>
  ValidateBy({ name: 'anObject', validator: { validate: isObject, defaultMessage: (args) => says('an object')(args as ValidationArguments) } });

export const AList = (): PropertyDecorator => IsArray({ message: says('a list') });

const Holds = (nesting: Nesting): PropertyDecorator => (target, property) => holds(target, property, nesting);

/** A list of names. */
export const Texts = (): PropertyDecorator =>
  applyDecorators(
    IsArray({ message: says('a list of strings') }),
    IsString({ each: true, message: says('a list of strings') }),
    Matches(STORABLE, { each: true, message: says('free of NUL characters and unpaired surrogates') }),
    Holds({ kind: 'names' }),
  );

/** Another class. */
export const Nested = (type: () => Type<object>): PropertyDecorator => applyDecorators(AnObject(), Holds({ kind: 'one', type }));

/** A list of another class. */
export const NestedList = (type: () => Type<object>): PropertyDecorator => applyDecorators(AList(), Holds({ kind: 'list', type }));

const StorableKeys = (): PropertyDecorator =>
  ValidateBy({
    name: 'storableKeys',
    validator: {
      validate: (value: unknown) => !isObject(value) || Object.keys(value).every((key) => STORABLE.test(key)),
      defaultMessage: (args) => says('free of NUL characters and unpaired surrogates')(args as ValidationArguments),
    },
  });

/** An object from names, whatever they are, to another class; null takes a name away. */
export const NamesTo = (type: () => Type<object>): PropertyDecorator => applyDecorators(AnObject(), StorableKeys(), Holds({ kind: 'map', type }));

/** RFC 3339 with its offset. */
const TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/u;

function isTime(value: unknown): boolean {
  const [, year, month, day] = typeof value === 'string' ? (TIME.exec(value) ?? []) : [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return year !== undefined && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && !Number.isNaN(Date.parse(value as string));
}

/** A moment of the calendar. */
export const Time = (): PropertyDecorator =>
  applyDecorators(Published({ format: 'date-time' }), ValidateBy({ name: 'time', validator: { validate: isTime, defaultMessage: (args) => says('a time such as 2027-06-30T00:00:00Z')(args as ValidationArguments) } }));

/** What a known member of a free-form object must be: true or false, or one of some words. */
export interface MemberRule {
  readonly description: string;
  readonly values: 'boolean' | readonly string[];
}

const memberFault = (rules: Readonly<Record<string, MemberRule>>, value: unknown): string | null => {
  if (!isObject(value)) return 'an object';
  for (const [member, { values }] of Object.entries(rules)) {
    const given = Object.hasOwn(value, member) ? (value[member] ?? null) : null;
    const fits = given === null || (values === 'boolean' ? typeof given === 'boolean' : typeof given === 'string' && values.includes(given));
    if (!fits) return `an object whose \`${member}\` is ${values === 'boolean' ? 'true or false' : `one of ${values.join(', ')}`}`;
  }
  return null;
};

const publishedMember = ({ description, values }: MemberRule) =>
  (values === 'boolean' ? { type: 'boolean' as const, nullable: true, description, example: true } : { type: 'string' as const, enum: [...values], nullable: true, description, example: values[0] });

/** An object whose known members are checked while others pass. */
export const FreeObjectWith = (rules: Readonly<Record<string, MemberRule>>): PropertyDecorator =>
  applyDecorators(
    Published({ type: 'object', additionalProperties: true, properties: Object.fromEntries(Object.entries(rules).map(([member, rule]) => [member, publishedMember(rule)])) }),
    ValidateBy({
      name: 'freeObjectWith',
      validator: {
        validate: (value: unknown) => memberFault(rules, value) === null,
        defaultMessage: (args) => says(memberFault(rules, args?.value) ?? 'valid')(args as ValidationArguments),
      },
    }),
  );
