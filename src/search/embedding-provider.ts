/** Where an operator's own vectors come from. There is none by default, and nothing here opens a connection. */
export abstract class EmbeddingProvider {
  /** One vector for each text, in order, all of one length. Texts that mean alike have vectors that point alike. */
  abstract embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}
