import { randomUUID } from 'node:crypto';
import type { Change, Conversation, NewConversation } from '../../src/conversations/conversation.store.js';
import { ConversationStore } from '../../src/conversations/conversation.store.js';
import { agentNotFound } from '../../src/platform/errors/app-error.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import type { MemoryWorld } from './memory-world.js';

export interface KeptConversation {
  readonly conversation: Conversation;
  /** Days since anybody used it. */
  readonly idleDays: number;
}

/** Single-threaded: a change is finished before anybody else can begin one. */
export class MemoryConversationStore extends ConversationStore {
  constructor(private readonly world: MemoryWorld) {
    super();
  }

  override async find(tenant: TenantId, id: string): Promise<Conversation | null> {
    return this.kept(tenant).get(id)?.conversation ?? null;
  }

  override async create(tenant: TenantId, conversation: NewConversation): Promise<{ conversation: Conversation; created: boolean }> {
    const existing = this.kept(tenant).get(conversation.conversationId);
    if (existing !== undefined) return { conversation: existing.conversation, created: false };
    if (!this.world.tenants.get(tenant)?.agents.has(conversation.agentId)) throw agentNotFound(conversation.agentId);
    return { conversation: this.keep(tenant, conversation), created: true };
  }

  override async update<T>(tenant: TenantId, id: string, change: (conversation: Conversation) => Change<T>): Promise<T | null> {
    const existing = this.kept(tenant).get(id);
    if (existing === undefined) return null;
    const { state, result } = change(existing.conversation);
    if (state !== existing.conversation.state) this.keep(tenant, { ...existing.conversation, state });
    return result;
  }

  override async delete(tenant: TenantId, id: string): Promise<boolean> {
    return this.kept(tenant).delete(id);
  }

  override async sweep(tenant: TenantId, batch: number): Promise<number> {
    const days = this.world.tenants.get(tenant)?.settings.settings.conversationRetentionDays ?? 0;
    const idle = [...this.kept(tenant)].filter(([, { idleDays }]) => idleDays > days).slice(0, batch);
    for (const [id] of idle) this.kept(tenant).delete(id);
    return idle.length;
  }

  /** Makes it look unused for that long. */
  age(tenant: TenantId, id: string, idleDays: number): void {
    const kept = this.kept(tenant).get(id);
    if (kept !== undefined) this.kept(tenant).set(id, { ...kept, idleDays });
  }

  private kept(tenant: TenantId): Map<string, KeptConversation> {
    return this.world.tenants.get(tenant)?.conversations ?? new Map<string, KeptConversation>();
  }

  private keep(tenant: TenantId, conversation: NewConversation): Conversation {
    const stored = JSON.parse(JSON.stringify({ ...conversation, version: randomUUID() })) as Conversation;
    this.kept(tenant).set(conversation.conversationId, { conversation: stored, idleDays: 0 });
    return stored;
  }
}
