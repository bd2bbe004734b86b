import type { LoadingState } from '../core/loading-state.js';
import type { ConversationRequest, Snapshot } from '../core/snapshot.js';
import type { TenantId } from '../platform/tenant-id.js';

/** A conversation's snapshot as it is kept. */
export interface Conversation extends Snapshot {
  readonly conversationId: string;
  readonly agentId: string;
  /** What it was created with: the same again is the same request. */
  readonly request: ConversationRequest;
  /** Another one after every change, and never one that was there before. */
  readonly version: string;
}

export type NewConversation = Omit<Conversation, 'version'>;

/** What a change makes of the state, and what its caller is told. The same state again writes nothing. */
export interface Change<T> {
  readonly state: LoadingState;
  readonly result: T;
}

/** One tenant's conversations. They belong to an agent and go with it. */
export abstract class ConversationStore {
  abstract find(tenant: TenantId, conversationId: string): Promise<Conversation | null>;

  /** The one that is there now, and whether it is this one. Two creators at once make one. An agent that is gone is `AGENT_NOT_FOUND`. */
  abstract create(tenant: TenantId, conversation: NewConversation): Promise<{ readonly conversation: Conversation; readonly created: boolean }>;

  /**
   * INVARIANT (no lost load): changes of one conversation happen one after another, each on what the one before left. Null
   * when it does not exist; what `change` throws changes nothing.
   */
  abstract update<T>(tenant: TenantId, conversationId: string, change: (conversation: Conversation) => Change<T>): Promise<T | null>;

  /** Whether there was one. */
  abstract delete(tenant: TenantId, conversationId: string): Promise<boolean>;

  /** Removes up to `batch` of those that nobody has used for as long as the tenant keeps them. Answers how many. */
  abstract sweep(tenant: TenantId, batch: number): Promise<number>;
}
