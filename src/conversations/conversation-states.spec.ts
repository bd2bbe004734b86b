import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { normaliseDocument } from '../core/agent-document.js';
import { mark } from '../core/load-tools.js';
import { readConversationRequest } from '../core/snapshot.js';
import type { TenantId } from '../platform/tenant-id.js';
import { authorFor } from '../../test/support/authors.js';
import { MemoryWorld } from '../../test/support/memory-world.js';
import { ConversationStates } from './conversation-states.js';

const TENANT = 't' as TenantId;
const MAX_STALENESS_MS = 1_000;

describe('what a process knows of conversations', () => {
  let world: MemoryWorld;
  let states: ConversationStates;
  let now: number;
  let looks: number;
  let isAway: boolean;
  beforeEach(async () => {
    world = new MemoryWorld();
    now = 0;
    looks = 0;
    isAway = false;
    await world.tenantStore.create(TENANT, 'tenant');
    await world.governance.write(authorFor(TENANT), (unit) => unit.saveAgent({ agentId: 'm', document: normaliseDocument('m', {}), origin: 'native', legacy: null }));
    await world.conversations.create(TENANT, {
      conversationId: 'c', agentId: 'm', request: readConversationRequest({ agentId: 'm' }), catalogText: '',
      state: { enabled: true, deferredSet: ['a', 'b'], initialExposed: [], loaded: [], discovered: [] },
    });
    const find = world.conversations.find.bind(world.conversations);
    world.conversations.find = async (tenant, id) => {
      looks += 1;
      if (isAway) throw new Error('ECONNREFUSED');
      return find(tenant, id);
    };
    states = new ConversationStates(world.conversations, MAX_STALENESS_MS, () => now);
  });

  const loaded = async (id = 'c'): Promise<readonly string[] | undefined> => (await states.current(TENANT, id)).conversation?.state.loaded;
  const load = (name: string) => states.change(TENANT, 'c', ({ state }) => ({ state: mark(state, [name]), result: true }));

  it('is read once and at hand for a moment, also that there is none', async () => {
    expect(states.hot(TENANT, 'c')).toBeUndefined();
    expect([await loaded(), await loaded('none')]).toEqual([[], undefined]);
    expect([states.hot(TENANT, 'c')?.conversation?.agentId, states.hot(TENANT, 'none')]).toEqual(['m', { conversation: null, version: 'none', staleForMs: 0 }]);
    expect(looks).toBe(2);
    now = 300;
    expect([states.hot(TENANT, 'c'), states.hot(TENANT, 'none')]).toEqual([undefined, undefined]);
  });

  it('follows a change of its own at once, and one of another process after a moment', async () => {
    await loaded();
    await load('a');
    expect(states.hot(TENANT, 'c')).toBeUndefined();
    expect(await loaded()).toEqual(['a']);
    await world.conversations.update(TENANT, 'c', ({ state }) => ({ state: mark(state, ['b']), result: true }));
    expect(await loaded()).toEqual(['a']);
    expect((await states.fresh(TENANT, 'c')).conversation?.state.loaded).toEqual(['a', 'b']);
  });

  it('forgets the conversations of an agent that is gone', async () => {
    await loaded();
    await world.governance.write(authorFor(TENANT), (unit) => unit.deleteAgent('m'));
    states.noteGovernance('other' as TenantId);
    expect(states.hot(TENANT, 'c')).toBeDefined();
    states.noteGovernance(TENANT);
    expect(await loaded()).toBeUndefined();
  });

  it('is served as stale while the database is away, within the bound and not beyond it', async () => {
    await loaded();
    isAway = true;
    now = 900;
    expect(await states.current(TENANT, 'c')).toMatchObject({ staleForMs: 900, conversation: { agentId: 'm' } });
    now = 1_100;
    await expect(states.current(TENANT, 'c')).rejects.toMatchObject({ code: 'TOO_STALE' });
    await expect(states.current(TENANT, 'never read')).rejects.toThrow('ECONNREFUSED');
    isAway = false;
    now = 2_000;
    await states.current(TENANT, 'c').catch(() => undefined);
    await nextTurn();
    expect((await states.current(TENANT, 'c')).staleForMs).toBe(0);
  });

  it('knows without a look that nobody began a conversation whose id can not be kept', async () => {
    for (const id of ['', 'a\0b', '\ud800', 'x'.repeat(257)]) {
      expect([states.hot(TENANT, id)?.conversation, (await states.current(TENANT, id)).conversation, (await states.fresh(TENANT, id)).conversation]).toEqual([null, null, null]);
      expect(await states.change(TENANT, id, ({ state }) => ({ state, result: true }))).toBeNull();
    }
    expect(looks).toBe(0);
  });
});
