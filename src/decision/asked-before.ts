/** How many are remembered, in four bytes each. A power of two. */
const PLACES = 65_536;
/** Characters of a digest that stand for its place, and as many after them for its mark: 30 bits each. */
const CHARACTERS = 5;

/**
 * Tells whether something was asked before: what is asked once need not be kept. A place holds the last that fell to it, so
 * one that was asked long ago may be forgotten; and a chance match, one in a thousand million, takes a first for a second.
 */
export class AskedBefore {
  private readonly marks = new Uint32Array(PLACES);

  /** By a digest of what is asked, in base64url, which is remembered from now on. */
  isAgain(digest: string): boolean {
    const place = bitsOf(digest, 0) & (PLACES - 1);
    const mark = bitsOf(digest, CHARACTERS);
    const isKnown = this.marks[place] === mark;
    this.marks[place] = mark;
    return isKnown;
  }
}

/** Six bits a character, more or less: the alphabet folds a few onto others. Never 0, which marks an empty place. */
function bitsOf(digest: string, from: number): number {
  let bits = 0;
  for (let i = from; i < from + CHARACTERS; i += 1) bits = (bits << 6) ^ digest.charCodeAt(i);
  return (bits >>> 0) || 1;
}
