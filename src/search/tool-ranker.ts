import type { Ranked, SearchDocument } from '../core/search.js';

/**
 * Orders tools by how well they fit a query. The array of documents is the key of what is kept for it: hand in the same one
 * for as long as nothing in it changed, and a new one after that.
 */
export abstract class ToolRanker {
  /**
   * The tools of `among` that match, best first. A tool whose very name is the query comes first; equal scores keep the order
   * of the documents. INVARIANT (ranking only orders): what is found is in `among`, once, is the same every time, and is never
   * less because of tools outside.
   */
  abstract rank(documents: readonly SearchDocument[], query: string, among: ReadonlySet<string>): Promise<readonly Ranked[]>;

  /** Begins what the first `rank` would wait for. */
  abstract prepare(documents: readonly SearchDocument[]): void;
}
