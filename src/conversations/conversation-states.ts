import { LRUCache } from 'lru-cache';
import type { TenantId } from '../platform/tenant-id.js';
import type { Change, Conversation } from './conversation.store.js';
import type { ConversationStore } from './conversation.store.js';

const FRESH_MS = 200;

/** A conversation as it was read, or that there is none. */
export interface ServedConversation {
  readonly conversation: Conversation | null;
  /** Of its state: differs whenever the state may differ. */
  readonly version: string;
  /** 0 for a fresh one, else how long ago it was certain to be current. */
  readonly staleForMs: number;
}

interface Entry {
  readonly served: ServedConversation;
  readonly checkedAt: number;
}

export class ConversationStates {
  private readonly entries = new LRUCache<string, Entry>({ max: 10_000 });

  constructor(
    private readonly store: ConversationStore,
    readonly maxStalenessMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  hot(tenant: TenantId, id: string): ServedConversation | undefined {
    const entry = this.entries.get(`${tenant}\n${id}`);
    return entry !== undefined && this.now() - entry.checkedAt < FRESH_MS ? entry.served : undefined;
  }

  async current(tenant: TenantId, id: string): Promise<ServedConversation> {
    return this.hot(tenant, id) ?? this.fresh(tenant, id);
  }

  async fresh(tenant: TenantId, id: string): Promise<ServedConversation> {
    const checkedAt = this.now();
    const conversation = await this.store.find(tenant, id);
    const served = { conversation, version: conversation?.version ?? 'none', staleForMs: 0 };
    this.entries.set(`${tenant}\n${id}`, { served, checkedAt });
    return served;
  }

  noteWrite(tenant: TenantId, id: string): void {
    this.entries.delete(`${tenant}\n${id}`);
  }

  async change<T>(tenant: TenantId, id: string, change: (conversation: Conversation) => Change<T>): Promise<T | null> {
    try {
      return await this.store.update(tenant, id, change);
    } finally {
      this.noteWrite(tenant, id);
    }
  }
}
