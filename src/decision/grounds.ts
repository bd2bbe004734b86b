import { Injectable } from '@nestjs/common';
import type { ServedConversation } from '../conversations/conversation-states.js';
import { ConversationStates } from '../conversations/conversation-states.js';
import type { Offering, OfferingAsked } from '../core/expose.js';
import { offeringOf } from '../core/expose.js';
import type { PolicyView } from '../core/policy-view.js';
import type { TurnInput } from '../core/request.js';
import { AppError } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { ServedView } from '../policy/policy-views.js';
import { PolicyViews } from '../policy/policy-views.js';

export interface WithMinRevision {
  readonly minRevision?: number | null;
}

/** What a question is answered from: the policy, and the conversation where it names one. */
export interface Ground extends ServedView {
  readonly conversation: ServedConversation | null;
}

type Asked = TurnInput & WithMinRevision;

const NO_REVISION = 0;

/** Where the ground of an answer comes from: memory while it is fresh there, else the database. */
@Injectable()
export class Grounds {
  constructor(
    private readonly views: PolicyViews,
    private readonly conversations: ConversationStates,
  ) {}

  /** The ground at hand, or null where something has to be read first. */
  hot(tenant: TenantId, { conversationId, minRevision }: Asked): Ground | null {
    const view = this.views.hot(tenant);
    if (view === null || view.revision < (minRevision ?? NO_REVISION)) return null;
    const conversation = namesNone(conversationId) ? null : this.conversations.hot(tenant, conversationId);
    return conversation === undefined ? null : { view, staleForMs: 0, conversation };
  }

  async read(tenant: TenantId, { conversationId, minRevision }: Asked): Promise<Ground> {
    const conversation = namesNone(conversationId) ? null : this.conversations.current(tenant, conversationId);
    return this.together(tenant, minRevision, conversation);
  }

  /** With a conversation that holds every change which had committed anywhere. */
  readAnew(tenant: TenantId, { conversationId, minRevision }: Asked): Promise<Ground> {
    return this.together(tenant, minRevision, namesNone(conversationId) ? null : this.conversations.fresh(tenant, conversationId));
  }

  private async together(tenant: TenantId, minRevision: number | null | undefined, reading: Promise<ServedConversation> | null): Promise<Ground> {
    const [served, conversation] = await Promise.all([this.views.get(tenant, minRevision ?? NO_REVISION), reading]);
    return { view: served.view, staleForMs: Math.max(served.staleForMs, conversation?.staleForMs ?? 0), conversation };
  }
}

const namesNone = (conversationId: string | null | undefined): conversationId is null | undefined => conversationId === null || conversationId === undefined;

/** How the tools of the turn are offered. A conversation of another agent is refused. */
export function offeringIn({ view, conversation: served }: { readonly view: PolicyView; readonly conversation: ServedConversation | null }, request: OfferingAsked & { readonly agentId: string }): Offering {
  const conversation = served?.conversation ?? null;
  if (conversation !== null && conversation.agentId !== request.agentId) {
    throw new AppError('CONVERSATION_OF_OTHER_AGENT', 'the conversation belongs to another agent');
  }
  return offeringOf(request, conversation?.state ?? null, view);
}
