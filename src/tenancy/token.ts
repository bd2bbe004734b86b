import { hash } from 'node:crypto';

/** What may be a person's token, by its shape alone. */
export interface PresentedToken {
  readonly kind: 'token';
  readonly text: string;
  /** Names the token in memory: no other text has it. */
  readonly digest: string;
}

/** Three parts in base64url, the first of which is an object of JSON: it begins with `{"` or `{ `, thus with `ey`. A key of ours begins with `tck_`. */
const FORM = /^ey[\w-]+\.[\w-]+\.([\w-]+)$/u;
/** Real ones have one or two thousand; those with a person's every group some more. */
const MAX_LENGTH = 8 * 1024;

/** Null for what can not be a token. */
export function parseToken(text: string): PresentedToken | null {
  if (text.length > MAX_LENGTH) return null;
  const signature = FORM.exec(text)?.[1];
  return signature === undefined || !isCanonical(signature) ? null : { kind: 'token', text, digest: hash('sha256', text, 'base64') };
}

/** The last letter has bits that say nothing. With any but zeros there, a second text would be the same token. */
const isCanonical = (text: string): boolean => Buffer.from(text, 'base64url').toString('base64url') === text;
