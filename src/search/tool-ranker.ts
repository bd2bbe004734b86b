import type { Ranked, SearchDocument } from '../core/search.js';

/** Ranks tools by a query. An index belongs to one list of documents, whose identity is its key. */
export abstract class ToolRanker {
  /**
   * The documents whose name is `among` that match the query, best first; none is cut. An exact name comes first, equal
   * scores come in the order of the documents, and the same question has the same answer.
   */
  abstract rank(documents: readonly SearchDocument[], query: string, among: ReadonlySet<string>): Promise<readonly Ranked[]>;

  /** Builds the index ahead of the first search, in the background. */
  abstract prepare(documents: readonly SearchDocument[]): void;
}
