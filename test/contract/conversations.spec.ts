import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { normaliseDocument } from '../../src/core/agent-document.js';
import { mark } from '../../src/core/load-tools.js';
import { readConversationRequest } from '../../src/core/snapshot.js';
import type { Conversation, ConversationStore, NewConversation } from '../../src/conversations/conversation.store.js';
import { PrismaConversationStore } from '../../src/conversations/prisma-conversation.store.js';
import type { GovernanceStore } from '../../src/governance/governance.store.js';
import { PrismaGovernanceStore } from '../../src/governance/prisma-governance.store.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import { PrismaTenantStore } from '../../src/tenancy/prisma-tenant.store.js';
import type { TenantStore } from '../../src/tenancy/tenant.store.js';
import { authorFor } from '../support/authors.js';
import { DATABASES } from '../support/databases.js';
import { MemoryWorld } from '../support/memory-world.js';

interface Stores {
  readonly conversations: ConversationStore;
  readonly governance: GovernanceStore;
  readonly tenants: TenantStore;
  /** Makes a conversation look unused for that many days. */
  readonly age: (tenant: TenantId, id: string, days: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

const KINDS: readonly { readonly name: string; readonly open: () => Promise<Stores> }[] = [
  {
    name: 'in memory',
    open: async () => {
      const { conversations, governance, tenantStore: tenants } = new MemoryWorld();
      return { conversations, governance, tenants, age: async (tenant, id, days) => conversations.age(tenant, id, days), close: () => Promise.resolve() };
    },
  },
  ...DATABASES.map(({ name, open }) => ({
    name: `Prisma, ${name}`,
    open: async () => {
      const { database, close } = await open();
      const age = async (tenant: TenantId, id: string, days: number): Promise<void> => {
        await database.inTenant(tenant, (tx) => tx.$executeRaw`UPDATE conversations SET used_at = now() - make_interval(days => ${days}::int) WHERE conversation_id = ${id}`);
      };
      return { conversations: new PrismaConversationStore(database), governance: new PrismaGovernanceStore(database), tenants: new PrismaTenantStore(database), age, close };
    },
  })),
];

const ODD = ['__proto__', 'a\0b', '\ud800', '名字', '🙂'];
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `tool_${i}`);

const conversation = (conversationId: string, deferredSet: readonly string[] = ['a', 'b']): NewConversation => ({
  conversationId,
  agentId: 'm',
  request: readConversationRequest({ agentId: 'm', context: { attributes: { odd: ODD } } }),
  state: { enabled: true, deferredSet, initialExposed: [...ODD, 'load_tools'], loaded: [], discovered: [] },
  catalogText: ODD.join(' '),
});

describe.each(KINDS)('the store of conversations, $name', ({ open }) => {
  let stores: Stores;
  let tenant: TenantId;
  let count = 0;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores.close());
  beforeEach(async () => {
    count += 1;
    tenant = `t${count}` as TenantId;
    await stores.tenants.create(tenant, 'a tenant');
    await saveAgent('m');
  });

  const saveAgent = async (agentId: string): Promise<void> => {
    await stores.governance.write(authorFor(tenant), (unit) => unit.saveAgent({ agentId, document: normaliseDocument(agentId, {}), origin: 'native', legacy: null }));
  };
  const find = async (id: string): Promise<Conversation> => {
    const found = await stores.conversations.find(tenant, id);
    if (found === null) throw new Error(`no conversation ${id}`);
    return found;
  };
  const load = (id: string, loaded: readonly string[]): Promise<string | null> =>
    stores.conversations.update(tenant, id, ({ state }) => ({ state: mark(state, loaded), result: 'told' }));

  it('keeps what was created as it is, and creates it once', async () => {
    const made = await stores.conversations.create(tenant, conversation('c'));
    expect(made).toEqual({ created: true, conversation: { ...conversation('c'), version: expect.any(String) } });
    const again = await stores.conversations.create(tenant, conversation('c', ['other']));
    expect(again).toEqual({ created: false, conversation: made.conversation });
    expect(await find('c')).toEqual(made.conversation);
  });

  it('lets one of many creators at once create it', async () => {
    const made = await Promise.all(names(8).map((name) => stores.conversations.create(tenant, conversation('c', [name]))));
    expect(made.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(made.map((one) => JSON.stringify(one.conversation))).size).toBe(1);
  });

  it('INVARIANT (no lost load): changes at the same time all stay', async () => {
    await stores.conversations.create(tenant, conversation('c', names(20)));
    await Promise.all(names(20).map((name, i) => load('c', i % 2 === 0 ? [name] : [name, `found_${i}`])));
    const { state } = await find('c');
    expect([...state.loaded].sort()).toEqual([...names(20)].sort());
    expect(state.discovered).toHaveLength(10);
  });

  it('gives another version after a change and none after one that changes nothing', async () => {
    await stores.conversations.create(tenant, conversation('c'));
    const { version } = await find('c');
    expect(await load('c', ['a'])).toBe('told');
    const changed = await find('c');
    expect(changed.version).not.toBe(version);
    expect(await load('c', ['a'])).toBe('told');
    expect((await find('c')).version).toBe(changed.version);
  });

  it('never repeats a version, not even for a conversation of the same id', async () => {
    await stores.conversations.create(tenant, conversation('c'));
    const { version } = await find('c');
    expect(await stores.conversations.delete(tenant, 'c')).toBe(true);
    await stores.conversations.create(tenant, conversation('c'));
    expect((await find('c')).version).not.toBe(version);
  });

  it('changes nothing when the change throws, and nothing that does not exist', async () => {
    await stores.conversations.create(tenant, conversation('c'));
    const before = await find('c');
    await expect(stores.conversations.update(tenant, 'c', () => {
      throw new Error('no');
    })).rejects.toThrow('no');
    expect(await find('c')).toEqual(before);
    expect(await load('nowhere', ['a'])).toBeNull();
    expect(await stores.conversations.delete(tenant, 'nowhere')).toBe(false);
  });

  it('lets a conversation go with its agent, and makes none for an agent that is gone', async () => {
    await stores.conversations.create(tenant, conversation('c'));
    await stores.governance.write(authorFor(tenant), (unit) => unit.deleteAgent('m'));
    await expect(stores.conversations.create(tenant, conversation('d'))).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    await saveAgent('m');
    expect(await stores.conversations.find(tenant, 'c')).toBeNull();
  });

  it('shows a tenant its own alone', async () => {
    await stores.conversations.create(tenant, conversation('c'));
    const mine = tenant;
    tenant = `${mine}-other` as TenantId;
    await stores.tenants.create(tenant, 'another');
    await saveAgent('m');
    expect(await stores.conversations.find(tenant, 'c')).toBeNull();
    expect(await load('c', ['a'])).toBeNull();
    expect(await stores.conversations.delete(tenant, 'c')).toBe(false);
    expect((await stores.conversations.create(tenant, conversation('c', ['x']))).created).toBe(true);
    tenant = mine;
    expect((await find('c')).state.deferredSet).toEqual(['a', 'b']);
  });

  it('sweeps what nobody has used for longer than the tenant keeps it, in batches', async () => {
    for (const id of ['old', 'older', 'oldest', 'young']) await stores.conversations.create(tenant, conversation(id));
    for (const [id, days] of [['old', 31], ['older', 40], ['oldest', 400], ['young', 29]] as const) await stores.age(tenant, id, days);
    expect(await stores.conversations.sweep(tenant, 2)).toBe(2);
    expect(await stores.conversations.sweep(tenant, 2)).toBe(1);
    expect(await stores.conversations.sweep(tenant, 2)).toBe(0);
    expect((await find('young')).conversationId).toBe('young');
    await stores.governance.write(authorFor(tenant), async (unit) => unit.saveSettings({ ...unit.settings().settings, conversationRetentionDays: 7 }));
    await stores.age(tenant, 'young', 8);
    expect(await stores.conversations.sweep(tenant, 2)).toBe(1);
  });

  it('notes a use, so that a conversation in use is kept', async () => {
    await stores.conversations.create(tenant, conversation('c'));
    await stores.age(tenant, 'c', 400);
    await load('c', ['a']);
    expect(await stores.conversations.sweep(tenant, 10)).toBe(0);
  });
});
