import { describe, expect, it } from '@jest/globals';
import type { ConversationStates } from '../conversations/conversation-states.js';
import type { PolicyPoint } from '../core/policy-view.js';
import { RevisionLoader } from '../invalidation/revision.loader.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { PolicyViews } from '../policy/policy-views.js';
import { MemoryAnswerStore } from '../../test/support/memory-answer.store.js';
import { answerKey } from './answer-key.js';
import { AnswerMemo, questionOf } from './answer-memo.js';
import { ColdAnswers } from './cold-answers.js';

const TENANT = 't' as TenantId;
const INPUT = { agentId: 'm' };

/** Where the tenant stands, told when the test lets it. */
class HeldRevisions extends RevisionLoader {
  asked = 0;
  revision = 1;
  hold: Promise<void> = Promise.resolve();
  override look = (): never => { throw new Error('not asked here'); };

  override async points(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, PolicyPoint>> {
    this.asked += 1;
    const { revision } = this;
    await this.hold;
    return new Map(tenants.map((tenant) => [tenant, { incarnation: 'i', revision }]));
  }
}

const setUp = () => {
  const revisions = new HeldRevisions();
  const store = new MemoryAnswerStore();
  for (const revision of [1, 2]) store.keep(answerKey(TENANT, { incarnation: 'i', revision }, INPUT, null, 'en'), { body: Buffer.from(`answer ${revision}`), outcome: 'ok' });
  // A tenant that takes for ever to read.
  const views = { isKnown: () => false, get: () => new Promise(() => undefined) } as unknown as PolicyViews;
  return { revisions, cold: new ColdAnswers(views, revisions, {} as ConversationStates, store) };
};

describe('the first questions to a cold replica', () => {
  it('share one look at where the tenant stands', async () => {
    const { revisions, cold } = setUp();
    const answers = await Promise.all(Array.from({ length: 200 }, async () => cold.find(TENANT, INPUT, 'en')));
    expect(new Set(answers.map((answer) => String(answer?.body)))).toEqual(new Set(['answer 1']));
    expect(revisions.asked).toBe(1);
  });

  it('do not share one that began before a write of this process', async () => {
    const { revisions, cold } = setUp();
    let release = (): void => undefined;
    revisions.hold = new Promise((resolve) => (release = resolve));
    const before = cold.find(TENANT, INPUT, 'en');
    revisions.revision = 2;
    cold.noteCommit(TENANT);
    const after = cold.find(TENANT, INPUT, 'en');
    release();
    expect([String((await before)?.body), String((await after)?.body)]).toEqual(['answer 1', 'answer 2']);
  });
});

describe('a kept answer', () => {
  it('holds no more memory than its own bytes', () => {
    const memo = new AnswerMemo(10_000);
    const question = questionOf(TENANT, { incarnation: 'i', revision: 1 }, 'en', '{}');
    memo.keep(question, { body: Buffer.from('small'), etag: memo.etagOf(question, null), revision: '1', outcome: 'ok', conversation: null });
    expect([memo.find(question)?.body.toString(), memo.find(question)?.body.buffer.byteLength]).toEqual(['small', 5]);
  });
});
