import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { AppError } from '../errors/app-error.js';

export class PageQueryDto {
  @ApiPropertyOptional({ description: '`nextCursor` of the page before; opaque', pattern: '^[A-Za-z0-9_-]+$', example: 'WyJyZWFkX2ZpbGUiXQ' })
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]+$/u, { message: '`cursor` must be the `nextCursor` of a page' })
  cursor?: string;

  @ApiPropertyOptional({ description: 'items on a page', type: 'integer', minimum: 1, maximum: 500, default: 100, example: 100 })
  @IsOptional()
  @Matches(/^(?:[1-9]\d?|[1-4]\d\d|500)$/u, { message: '`limit` must be a whole number from 1 to 500' })
  limit?: string;
}

/** The place of the last item seen: a page follows it, whatever came or went meanwhile. */
export type CursorPlace = readonly (string | number)[];

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export const limitOf = ({ limit }: PageQueryDto): number => Number(limit ?? 100);

/** The place that a cursor names, of the given types; null without a cursor. */
export function placeOf({ cursor }: PageQueryDto, types: readonly ('string' | 'number')[]): CursorPlace | null {
  if (cursor === undefined) return null;
  const place = decode(cursor);
  if (!Array.isArray(place) || place.length !== types.length || !types.every((type, i) => typeof place[i] === type && !String(place[i]).includes('\0'))) {
    throw new AppError('INVALID_QUERY', '`cursor` must be the `nextCursor` of a page');
  }
  return place as CursorPlace;
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

/** `found` holds one item more than the limit where there is a next page. */
export function pageOf<T>(found: readonly T[], limit: number, placeOfItem: (item: T) => CursorPlace): Page<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, nextCursor: more ? Buffer.from(JSON.stringify(placeOfItem(last))).toString('base64url') : null };
}
