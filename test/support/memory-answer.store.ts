import type { AnswerKey, SharedAnswer } from '../../src/decision/answer.store.js';
import { AnswerStore } from '../../src/decision/answer.store.js';

export class MemoryAnswerStore extends AnswerStore {
  override readonly isThere = true;
  private readonly answers = new Map<AnswerKey, SharedAnswer>();

  override async find(key: AnswerKey): Promise<SharedAnswer | null> {
    return this.answers.get(key) ?? null;
  }

  override keep(key: AnswerKey, answer: SharedAnswer): void {
    this.answers.set(key, answer);
  }
}
