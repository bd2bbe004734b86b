import { Injectable } from '@nestjs/common';
import { ConversationStates } from '../conversations/conversation-states.js';
import type { Language } from '../core/reason.js';
import type { DecideInput } from '../core/request.js';
import { RevisionLoader } from '../invalidation/revision.loader.js';
import { AppError } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyViews } from '../policy/policy-views.js';
import { answerKey } from './answer-key.js';
import type { MemoisedAnswer } from './answer-memo.js';
import type { AnswerKey, SharedAnswer } from './answer.store.js';
import { AnswerStore } from './answer.store.js';
import type { WithMinRevision } from './grounds.js';

/** An answer of another replica, with what it was found for. */
export interface ColdAnswer extends SharedAnswer {
  readonly incarnation: string;
  readonly revision: number;
  readonly conversation: MemoisedAnswer['conversation'];
}

/**
 * The first questions to a replica that has not read a tenant yet: where it stands is one small look, and another replica may
 * have answered the same question at that revision. Meanwhile the tenant is read; whatever is there first is the answer.
 */
@Injectable()
export class ColdAnswers {
  private readonly pointing = new Map<TenantId, ReturnType<RevisionLoader['points']>>();
  private readonly finding = new Map<AnswerKey, ReturnType<AnswerStore['find']>>();

  constructor(
    private readonly views: PolicyViews,
    private readonly revisions: RevisionLoader,
    private readonly conversations: ConversationStates,
    private readonly store: AnswerStore,
  ) {}

  /** Null when the answer is to be computed. */
  find(tenant: TenantId, input: DecideInput & WithMinRevision, language: Language): Promise<ColdAnswer | null> | null {
    if (!this.store.isThere || this.views.isKnown(tenant)) return null;
    const isRead = this.views.get(tenant).then(() => null, () => null);
    const isFound = this.look(tenant, input, language).catch(() => null);
    return Promise.race([isRead, isFound.then((answer) => answer ?? isRead)]);
  }

  /** A write of this process has committed: who asks from now on does not share a look from before. */
  noteCommit(tenant: TenantId): void {
    this.pointing.delete(tenant);
  }

  private async look(tenant: TenantId, input: DecideInput & WithMinRevision, language: Language): Promise<ColdAnswer | null> {
    const [points, conversation] = await Promise.all([once(this.pointing, tenant, () => this.revisions.points([tenant])), this.stateOf(tenant, input.conversationId)]);
    const point = points.get(tenant);
    if (point === undefined || point.revision < (input.minRevision ?? 0)) return null;
    const key = answerKey(tenant, point, input, conversation?.version ?? null, language);
    const answer = await once(this.finding, key, () => this.store.find(key));
    return answer && { ...answer, ...point, conversation };
  }

  /** Of the conversation that the question names. */
  private async stateOf(tenant: TenantId, id: string | null | undefined): Promise<ColdAnswer['conversation']> {
    if (id === null || id === undefined) return null;
    const { version, staleForMs } = await this.conversations.current(tenant, id);
    if (staleForMs > 0) throw new AppError('DATABASE_UNAVAILABLE', 'nothing is shared of a conversation that can not be read');
    return { id, version };
  }
}

/** Many who ask the same at once share one asking. */
function once<K, T>(underWay: Map<K, Promise<T>>, key: K, work: () => Promise<T>): Promise<T> {
  const known = underWay.get(key);
  if (known !== undefined) return known;
  const asked: Promise<T> = work().finally(() => {
    if (underWay.get(key) === asked) underWay.delete(key);
  });
  underWay.set(key, asked);
  return asked;
}
