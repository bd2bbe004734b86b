import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ChangeStore } from '../../src/changes/change.store.js';
import { READING_BYTES } from '../../src/changes/change.store.js';
import { PrismaChangeStore } from '../../src/changes/prisma-change.store.js';
import { normaliseDocument } from '../../src/core/agent-document.js';
import { DEFAULT_SETTINGS } from '../../src/core/settings.js';
import type { GovernanceStore, GovernanceUnit } from '../../src/governance/governance.store.js';
import { PrismaGovernanceStore } from '../../src/governance/prisma-governance.store.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import { PrismaTenantStore } from '../../src/tenancy/prisma-tenant.store.js';
import type { TenantStore } from '../../src/tenancy/tenant.store.js';
import { authorFor } from '../support/authors.js';
import { DATABASES } from '../support/databases.js';
import { declare, plan } from '../support/declared.js';
import { MemoryWorld } from '../support/memory-world.js';

interface Stores {
  readonly governance: GovernanceStore;
  readonly changes: ChangeStore;
  readonly tenants: TenantStore;
  readonly remove: (tenant: TenantId, revision: number) => Promise<unknown>;
  /** Makes an entry look as if it was written before ids were kept. */
  readonly forgetIds: (tenant: TenantId, revision: number) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const KINDS: readonly { readonly name: string; readonly open: () => Promise<Stores> }[] = [
  {
    name: 'in memory',
    open: async () => {
      const world = new MemoryWorld();
      const remove = async (tenant: TenantId, gone: number) => {
        const state = world.of(tenant);
        state.history = state.history.filter(({ revision }) => revision !== gone);
      };
      return { governance: world.governance, changes: world.changes, tenants: world.tenantStore, remove, forgetIds: async (...entry) => world.changes.forgetIds(...entry), close: () => Promise.resolve() };
    },
  },
  ...DATABASES.map(({ name, open }) => ({
    name: `Prisma, ${name}`,
    open: async () => {
      const { database, close } = await open();
      const on = (sql: string) => (tenant: TenantId, revision: number) => database.pool.query(`${sql} WHERE tenant_id = $1 AND revision = $2`, [tenant, revision]);
      return { governance: new PrismaGovernanceStore(database), changes: new PrismaChangeStore(database), tenants: new PrismaTenantStore(database), remove: on('DELETE FROM history'), forgetIds: on('UPDATE history SET ids = NULL'), close };
    },
  })),
];

const agent = (agentId: string) => ({ agentId, document: normaliseDocument(agentId, {}), origin: 'native' as const, legacy: null });

describe.each(KINDS)('changes, $name', ({ open }) => {
  let stores: Stores;
  let tenant: TenantId;
  let count = 0;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores.close());

  const fresh = async (): Promise<void> => {
    count += 1;
    tenant = `tenant-${count}` as TenantId;
    await stores.tenants.create(tenant, 'a tenant');
  };
  const write = <T>(work: (unit: GovernanceUnit) => Promise<T>) => stores.governance.write(authorFor(tenant), work);
  const agents = (...ids: string[]) => write(async (unit) => { for (const id of ids) await unit.saveAgent(agent(id)); });
  const since = async (after: number, most = 1_000) => (await stores.changes.since(tenant, after, most))?.changes;

  it('are what each write touched, one for each revision, in order', async () => {
    await fresh();
    await write((unit) => unit.saveSync('s', { ...plan(declare('b'), declare('a'), declare('c')), categories: [] }));
    await write((unit) => unit.saveSync('s', { declarations: [declare('d'), declare('b', { sort: 4 })], missing: ['a'], categories: null }));
    await write((unit) => unit.saveGovernance('a', { status: 'disabled' }));
    await write((unit) => unit.deleteTool('a'));
    await agents('m', '__proto__');
    await write((unit) => unit.deleteAgent('m'));
    await write((unit) => unit.saveSettings({ ...DEFAULT_SETTINGS, maxSubagentDepth: 5 }));
    await write((unit) => unit.restoreSync('s', { put: [{ name: 'b', availability: 'unavailable', declaration: declare('b') }], remove: ['c'], categories: null }));
    await write((unit) => unit.saveSync('s', { declarations: [declare('b')], missing: [], categories: [{ source: 's', key: 'k', label: 'K', whenToUse: 'w', sort: 0 }] }));
    await write((unit) => unit.saveSync('s', { declarations: [], missing: [], categories: [] }));
    const told = [
      ['catalog', ['a', 'b', 'c']], ['catalog', ['a', 'b', 'd']], ['catalog', ['a']], ['catalog', ['a']],
      ['agent', ['m']], ['agent', ['__proto__']], ['agent', ['m']], ['settings', []],
      ['catalog', ['b', 'c']], ['catalog', ['b']], ['catalog', []],
    ].map(([kind, ids], i) => ({ revision: i + 1, kind, ids }));
    expect(await since(0)).toEqual(told);
    expect(await since(9)).toEqual(told.slice(9));
    expect(await stores.changes.since(tenant, 11, 1_000)).toEqual({ incarnation: expect.any(String), revision: 11, changes: [] });
  });

  it('are none of a write that failed, and there as soon as it has committed', async () => {
    await fresh();
    await expect(write(async (unit) => { await unit.saveAgent(agent('m')); throw new Error('changed my mind'); })).rejects.toThrow('changed my mind');
    expect(await since(0)).toEqual([]);
    await Promise.all(['m', 'n', 'o'].map((id) => agents(id).then(async ({ revision }) => expect((await since(revision - 1))?.[0]?.ids).toEqual([id]))));
  });

  it('are not told where there are too many, one is gone, or the place is not reached yet', async () => {
    await fresh();
    await agents('a', 'b', 'c', 'd', 'e', 'f');
    const revisions = async (after: number, most?: number) => (await since(after, most))?.map(({ revision }) => revision) ?? null;
    expect([await revisions(0, 6), await revisions(0, 5), await revisions(1, 5)]).toEqual([[1, 2, 3, 4, 5, 6], null, [2, 3, 4, 5, 6]]);
    expect([await revisions(6), await revisions(7), await revisions(Number.MAX_SAFE_INTEGER)]).toEqual([[], null, null]);
    await stores.remove(tenant, 1);
    await stores.forgetIds(tenant, 2);
    expect([await revisions(0), await revisions(1), await revisions(2)]).toEqual([null, null, [3, 4, 5, 6]]);
    await stores.forgetIds(tenant, 5);
    expect([await revisions(2), await revisions(4), await revisions(5)]).toEqual([[3, 4], null, [6]]);
    expect(await stores.changes.since(tenant, 0, 1_000)).toMatchObject({ revision: 6, changes: null });
  });

  it('come in several readings where their ids are many, and each reading goes on', async () => {
    await fresh();
    const names = Array.from({ length: 1_000 }, (_, i) => `${'n'.repeat(100)}${String(i).padStart(4, '0')}`);
    for (let i = 0; i < 4; i += 1) await write((unit) => unit.saveSync('s', plan(...names.map((name) => declare(name, { sort: i })))));
    const first = await since(0);
    expect(first?.map(({ revision, ids }) => [revision, ids.length])).toEqual([[1, 1_000], [2, 1_000]]);
    expect((await since(2))?.map(({ revision }) => revision)).toEqual([3, 4]);
    expect(Buffer.byteLength(JSON.stringify(first?.[0]?.ids))).toBeLessThan(READING_BYTES);
    expect(first?.[0]?.ids).toEqual(names);
  });

  it('are of one tenant alone', async () => {
    await fresh();
    await agents('mine');
    await fresh();
    expect(await since(0)).toEqual([]);
  });

  it('go with their tenant, and one of the same name is another', async () => {
    await fresh();
    await agents('m');
    const was = await stores.changes.since(tenant, 0, 10);
    await stores.tenants.delete(tenant);
    expect(await stores.changes.since(tenant, 0, 10)).toBeNull();
    await stores.tenants.create(tenant, 'again');
    const is = await stores.changes.since(tenant, 0, 10);
    expect(is).toMatchObject({ revision: 0, changes: [] });
    expect(is?.incarnation).not.toBe(was?.incarnation);
  });
});
