/** Texts as they are measured and pointed at. */

/** Bytes in UTF-8, counted no further than `limit` needs; a lone surrogate counts as the three bytes of its replacement. */
export function isLongerThan(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  if (text.length * 3 <= limit) return false;
  let bytes = 0;
  for (let i = 0; i < text.length && bytes <= limit; i += 1) {
    const point = text.codePointAt(i) ?? 0;
    bytes += bytesOf(point);
    if (point > 0xffff) i += 1;
  }
  return bytes > limit;
}

const bytesOf = (point: number): number => 1 + Number(point >= 0x80) + Number(point >= 0x800) + Number(point >= 0x10000);

/** The JSON Pointer (RFC 6901) of a member of what `at` points at. */
export const pointer = (at: string, member: string): string => `${at}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;
