import type { LoadingState } from '../core/loading-state.js';
import type { ConversationRequest } from '../core/snapshot.js';
import { settingsOf } from '../governance/record-mapper.js';
import type { Database, Transaction } from '../platform/database/database.js';
import { agentNotFound } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { Change, Conversation, NewConversation } from './conversation.store.js';
import { ConversationStore } from './conversation.store.js';

interface ConversationRow {
  readonly conversation_id: string;
  readonly agent_id: string;
  readonly request: string;
  readonly pinned: string;
  readonly marks: string;
  readonly version: string;
  /** Whether its last use was noted long enough ago to note another. */
  readonly idle: boolean;
}

type Pinned = Pick<LoadingState, 'enabled' | 'deferredSet' | 'initialExposed'> & Pick<Conversation, 'catalogText'>;
type Marks = Pick<LoadingState, 'loaded' | 'discovered'>;

function conversationOf({ conversation_id: conversationId, agent_id: agentId, request, pinned, marks, version }: ConversationRow): Conversation {
  const { catalogText, ...beginning } = JSON.parse(pinned) as Pinned;
  const state = { ...beginning, ...(JSON.parse(marks) as Marks) };
  return { conversationId, agentId, request: JSON.parse(request) as ConversationRequest, state, catalogText, version };
}

const pinnedOf = ({ state: { enabled, deferredSet, initialExposed }, catalogText }: NewConversation): string =>
  JSON.stringify({ enabled, deferredSet, initialExposed, catalogText } satisfies Pinned);
const marksOf = ({ loaded, discovered }: LoadingState): string => JSON.stringify({ loaded, discovered } satisfies Marks);

/** A change holds the lock of the conversation's own row: changes queue there, readers pass. */
export class PrismaConversationStore extends ConversationStore {
  constructor(private readonly database: Database) {
    super();
  }

  override find(tenant: TenantId, conversationId: string): Promise<Conversation | null> {
    return this.database.inTenant(tenant, async (tx) => {
      const row = await find(tx, tenant, conversationId);
      if (row === null) return null;
      if (row.idle) await tx.$executeRaw`UPDATE conversations SET used_at = now() WHERE tenant_id = ${tenant} AND conversation_id = ${conversationId}`;
      return conversationOf(row);
    });
  }

  /** The agent's row is held against its deletion until the conversation is there. */
  override create(tenant: TenantId, conversation: NewConversation): Promise<{ conversation: Conversation; created: boolean }> {
    const { conversationId, agentId, request, state } = conversation;
    return this.database.inTenant(tenant, async (tx) => {
      const created = await tx.$executeRaw`
        INSERT INTO conversations (tenant_id, conversation_id, agent_id, request, pinned, marks)
        SELECT agents.tenant_id, ${conversationId}, agents.agent_id, ${JSON.stringify(request)}, ${pinnedOf(conversation)}, ${marksOf(state)}
        FROM agents WHERE tenant_id = ${tenant} AND agent_id = ${agentId} FOR KEY SHARE
        ON CONFLICT (tenant_id, conversation_id) DO NOTHING`;
      const row = await find(tx, tenant, conversationId);
      if (row === null) throw agentNotFound(agentId);
      return { conversation: conversationOf(row), created: created > 0 };
    });
  }

  override update<T>(tenant: TenantId, conversationId: string, change: (conversation: Conversation) => Change<T>): Promise<T | null> {
    return this.database.inTenant(tenant, async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM conversations WHERE tenant_id = ${tenant} AND conversation_id = ${conversationId} FOR NO KEY UPDATE`;
      const row = await find(tx, tenant, conversationId);
      if (row === null) return null;
      const conversation = conversationOf(row);
      const { state, result } = change(conversation);
      if (state !== conversation.state) {
        await tx.$executeRaw`
          UPDATE conversations SET marks = ${marksOf(state)}, version = version + 1, used_at = now()
          WHERE tenant_id = ${tenant} AND conversation_id = ${conversationId}`;
      }
      return result;
    });
  }

  override async delete(tenantId: TenantId, conversationId: string): Promise<boolean> {
    const { count } = await this.database.inTenant(tenantId, (tx) => tx.conversation.deleteMany({ where: { tenantId, conversationId } }));
    return count > 0;
  }

  /** One that is being used at this moment is left for the next time. */
  override sweep(tenant: TenantId, batch: number): Promise<number> {
    return this.database.inTenant(tenant, async (tx) => {
      const found = await tx.tenant.findUnique({ where: { id: tenant }, select: { settings: true } });
      if (found === null) return 0;
      const { conversationRetentionDays } = settingsOf(found.settings);
      return tx.$executeRaw`
        DELETE FROM conversations WHERE tenant_id = ${tenant} AND conversation_id IN (
          SELECT conversation_id FROM conversations
          WHERE tenant_id = ${tenant} AND used_at < now() - make_interval(days => ${conversationRetentionDays}::int)
          ORDER BY used_at LIMIT ${batch} FOR UPDATE SKIP LOCKED)`;
    });
  }
}

async function find(tx: Transaction, tenant: TenantId, conversationId: string): Promise<ConversationRow | null> {
  const [row] = await tx.$queryRaw<ConversationRow[]>`
    SELECT conversation_id, agent_id, request, pinned, marks, concat(incarnation, ':', version) AS version,
      used_at < now() - interval '1 hour' AS idle
    FROM conversations WHERE tenant_id = ${tenant} AND conversation_id = ${conversationId}`;
  return row ?? null;
}
