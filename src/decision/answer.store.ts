declare const answerKeyBrand: unique symbol;

/** Names one question to one tenant at one revision. */
export type AnswerKey = string & { readonly [answerKeyBrand]: true };

/** A decision as it is sent. */
export interface SharedAnswer {
  readonly body: Buffer;
  readonly outcome: 'ok' | 'empty';
}

/**
 * Answers that replicas share. What is found there is what this replica would compute, or it is not found: a value that is
 * damaged, was made by somebody else, or belongs to another question is none. Nothing here throws, and nothing waits long.
 */
export abstract class AnswerStore {
  /** False where there is nothing to share with. */
  abstract readonly isThere: boolean;
  abstract find(key: AnswerKey): Promise<SharedAnswer | null>;
  /** Returns at once. */
  abstract keep(key: AnswerKey, answer: SharedAnswer): void;
}

/** Where no Redis is configured. */
export class NoAnswerStore extends AnswerStore {
  override readonly isThere = false;
  override find = (): Promise<null> => Promise.resolve(null);
  override keep = (): void => undefined;
}
