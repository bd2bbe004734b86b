/** How many are remembered, in four bytes each. A power of two. */
const PLACES = 65_536;

/**
 * Tells whether something was asked before: what is asked once need not be kept. A place holds the last that fell to it, so
 * one that was asked long ago may be forgotten; and a chance match, one in four thousand million, takes a first for a second.
 */
export class AskedBefore {
  private readonly marks = new Uint32Array(PLACES);

  /** By a digest of what is asked, which is remembered from now on. */
  isAgain(digest: Buffer): boolean {
    const place = digest.readUInt32LE(4) & (PLACES - 1);
    const mark = digest.readUInt32LE(0);
    const isKnown = this.marks[place] === mark;
    this.marks[place] = mark;
    return isKnown;
  }
}
