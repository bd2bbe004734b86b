import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { normaliseDocument } from '../../src/core/agent-document.js';
import { summaryOf } from '../../src/core/history.js';
import type { HistoryEntry } from '../../src/core/history.js';
import { DEFAULT_SETTINGS } from '../../src/core/settings.js';
import type { GovernanceStore, GovernanceUnit } from '../../src/governance/governance.store.js';
import { PrismaGovernanceStore } from '../../src/governance/prisma-governance.store.js';
import type { HistoryFilter, HistoryStore } from '../../src/history/history.store.js';
import { LISTED_BYTES } from '../../src/history/history.store.js';
import { PrismaHistoryStore } from '../../src/history/prisma-history.store.js';
import { reverting } from '../../src/platform/author.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import { PrismaTenantStore } from '../../src/tenancy/prisma-tenant.store.js';
import type { TenantStore } from '../../src/tenancy/tenant.store.js';
import { authorFor } from '../support/authors.js';
import { DATABASES } from '../support/databases.js';
import { declare, plan } from '../support/declared.js';
import { MemoryWorld } from '../support/memory-world.js';

interface Stores {
  readonly governance: GovernanceStore;
  readonly history: HistoryStore;
  readonly tenants: TenantStore;
  /** Makes an entry look that many days old. */
  readonly age: (tenant: TenantId, revision: number, days: number) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const KINDS: readonly { readonly name: string; readonly open: () => Promise<Stores> }[] = [
  {
    name: 'in memory',
    open: async () => {
      const world = new MemoryWorld();
      return { governance: world.governance, history: world.history, tenants: world.tenantStore, age: async (...how) => world.history.age(...how), close: () => Promise.resolve() };
    },
  },
  ...DATABASES.map(({ name, open }) => ({
    name: `Prisma, ${name}`,
    open: async () => {
      const { database, close } = await open();
      const age = (tenant: TenantId, revision: number, days: number) =>
        database.pool.query('UPDATE history SET at = now() - make_interval(days => $3) WHERE tenant_id = $1 AND revision = $2', [tenant, revision, days]);
      return { governance: new PrismaGovernanceStore(database), history: new PrismaHistoryStore(database), tenants: new PrismaTenantStore(database), age, close };
    },
  })),
];

const agent = (agentId: string, input: object = {}) => ({ agentId, document: normaliseDocument(agentId, input), origin: 'native' as const, legacy: null });
const category = (key: string, label: string) => ({ key, label, whenToUse: 'w', sort: 0 });

describe.each(KINDS)('history, $name', ({ open }) => {
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
  const write = <T>(work: (unit: GovernanceUnit) => Promise<T>, by = authorFor(tenant)) => stores.governance.write(by, work);
  const get = async (revision: number): Promise<HistoryEntry> => {
    const entry = await stores.history.find(tenant, revision);
    if (entry === null) throw new Error(`no entry ${revision}`);
    return entry;
  };
  const listed = async (filter: HistoryFilter = {}, before: number | null = null, limit = 100): Promise<number[]> =>
    (await stores.history.list(tenant, filter, before, limit)).map(({ revision }) => revision);

  it('INVARIANT (history): has one entry for each revision, with who wrote it, and none of a write that fails or does nothing', async () => {
    await fresh();
    await write(async (unit) => { await unit.saveAgent(agent('m')); await unit.saveAgent(agent('n')); }, authorFor(tenant, 'import-9'));
    await expect(write(async (unit) => { await unit.deleteAgent('m'); throw new Error('changed my mind'); })).rejects.toThrow('changed my mind');
    await write((unit) => unit.findAgent('m'));
    await write((unit) => unit.deleteAgent('n'));
    expect(await listed()).toEqual([3, 2, 1]);
    const head = { actor: { keyId: 'key-1', name: 'a key of the tests' }, reverts: null, entity: 'agent' };
    expect(await get(1)).toMatchObject({ ...head, revision: 1, id: 'm', action: 'create', requestId: 'import-9', before: null, after: { agentId: 'm', displayName: 'm', origin: 'native', legacy: null } });
    expect(await get(3)).toMatchObject({ ...head, id: 'n', action: 'delete', requestId: 'request-1', before: { agentId: 'n' }, after: null });
    expect(await stores.history.find(tenant, 4)).toBeNull();
  });

  it('keeps what each kind of write changed, from what and to what', async () => {
    await fresh();
    await write((unit) => unit.saveSync('s', { ...plan(declare('a'), declare('b')), categories: [{ source: 's', ...category('k', 'K') }] }));
    await write((unit) => unit.saveGovernance('a', { status: 'disabled' }));
    await write((unit) => unit.saveSync('s', { declarations: [declare('b', { sort: 4 })], missing: ['a'], categories: null }));
    await write((unit) => unit.saveSync('s', plan(declare('a', { label: 'back' }))));
    await write((unit) => unit.saveSync('s', { declarations: [], missing: ['a'], categories: [] }));
    await write((unit) => unit.deleteTool('a'));
    await write((unit) => unit.saveSettings({ ...DEFAULT_SETTINGS, maxSubagentDepth: 5 }));
    const [first, patch, second, third, fourth, gone, settings] = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(get));
    expect(first).toMatchObject({ entity: 'sync', id: 's', action: 'sync', before: { tools: [], categories: [] }, after: { tools: [{ name: 'a', availability: 'available', declaration: declare('a') }, { name: 'b' }], categories: [category('k', 'K')] } });
    expect(patch).toMatchObject({ entity: 'tool', id: 'a', action: 'update', before: { name: 'a', source: 's', governance: {} }, after: { name: 'a', source: 's', governance: { status: 'disabled' } } });
    expect(second).toMatchObject({ before: { tools: [{ name: 'a', availability: 'available' }, { name: 'b', declaration: { sort: 0 } }], categories: null }, after: { tools: [{ name: 'a', availability: 'unavailable', declaration: declare('a') }, { name: 'b', declaration: { sort: 4 } }], categories: null } });
    expect([first, second, third].map((entry) => summaryOf(entry as never))).toEqual([
      { added: ['a', 'b'], updated: [], restored: [], missing: [], removed: [] },
      { added: [], updated: ['b'], restored: [], missing: ['a'], removed: [] },
      { added: [], updated: [], restored: ['a'], missing: [], removed: [] },
    ]);
    expect(fourth).toMatchObject({ before: { categories: [category('k', 'K')] }, after: { categories: [] } });
    expect(gone).toMatchObject({ entity: 'tool', action: 'delete', before: { name: 'a', source: 's', availability: 'unavailable', declaration: { label: 'back' }, governance: { status: 'disabled' } }, after: null });
    expect(settings).toMatchObject({ entity: 'settings', id: 'settings', before: DEFAULT_SETTINGS, after: { ...DEFAULT_SETTINGS, maxSubagentDepth: 5 } });
  });

  it('puts tools back as they were, those that were gone with their overrides, and notes whose revert it was', async () => {
    await fresh();
    await write((unit) => unit.saveSync('s', { ...plan(declare('a'), declare('b'), declare('__proto__')), categories: [{ source: 's', ...category('k', 'K') }] }));
    await write((unit) => unit.saveGovernance('a', { sort: 3 }));
    const again = { name: 'c', availability: 'unavailable' as const, declaration: declare('c'), governance: { label: 'C' } };
    const back = { put: [{ name: 'a', availability: 'unavailable' as const, declaration: declare('a', { sort: 1 }) }, again], remove: ['__proto__', 'b'], categories: [] };
    await write((unit) => unit.restoreSync('s', back), reverting(authorFor(tenant), 1));
    await write(async (unit) => {
      const { tools, categories } = await unit.catalog();
      expect(categories).toEqual([]);
      expect([...tools].sort((x, y) => (x.name < y.name ? -1 : 1))).toEqual([
        { name: 'a', source: 's', available: false, declaration: declare('a', { sort: 1 }), governance: { sort: 3 }, revision: 3 },
        { name: 'c', source: 's', available: false, declaration: declare('c'), governance: { label: 'C' }, revision: 3 },
      ]);
      await unit.restoreTool({ name: 'a', source: 's', available: false, declaration: declare('a'), governance: { isCore: true } });
      expect(await unit.findTool('a')).toEqual({ name: 'a', source: 's', available: false, declaration: declare('a'), governance: { isCore: true }, revision: 4 });
      await unit.restoreTool({ name: '__proto__', source: 's', available: false, declaration: declare('__proto__'), governance: { sort: 2 } });
      expect(await unit.findTool('__proto__')).toMatchObject({ available: false, governance: { sort: 2 }, revision: 5 });
    });
    const reverted = await get(3);
    expect(reverted).toMatchObject({ action: 'revert', reverts: 1, entity: 'sync', id: 's', before: { tools: [{ name: '__proto__', governance: {} }, { name: 'a' }, { name: 'b' }] }, after: { tools: [{ name: 'a' }, again], categories: [] } });
    expect(summaryOf(reverted as never)).toEqual({ added: ['c'], updated: [], restored: [], missing: ['a'], removed: ['__proto__', 'b'] });
    expect(await get(5)).toMatchObject({ action: 'create', reverts: null, before: null, after: { name: '__proto__', governance: { sort: 2 } } });
  });

  it('is listed by what was changed, by whom and when, the newest first, page after page', async () => {
    await fresh();
    for (const id of ['m', 'n', 'm']) await write((unit) => unit.saveAgent(agent(id, { displayName: `${id} again` })));
    await write((unit) => unit.saveSettings({ ...DEFAULT_SETTINGS, maxSubagentDepth: 5 }));
    expect(await listed({}, null, 3)).toEqual([4, 3, 2]);
    await write((unit) => unit.saveAgent(agent('later')));
    expect(await listed({}, 2, 3)).toEqual([1]);
    expect(await listed({ entity: 'agent', id: 'm' })).toEqual([3, 1]);
    expect(await listed({ entity: 'settings' })).toEqual([4]);
    expect(await listed({ id: 'n' })).toEqual([2]);
    expect([await listed({ actor: 'key-1' }), await listed({ actor: 'key' })]).toEqual([[5, 4, 3, 2, 1], []]);
    await stores.age(tenant, 1, 10);
    await stores.age(tenant, 2, 5);
    const days = (ago: number): Date => new Date(Date.now() - ago * 86_400_000);
    expect(await listed({ from: days(6) })).toEqual([5, 4, 3, 2]);
    expect(await listed({ from: days(6), to: days(4) })).toEqual([2]);
    const at = new Date((await get(2)).at);
    expect([await listed({ from: at, to: at }), await listed({ to: new Date(0) })]).toEqual([[2], []]);
  });

  it('leaves out of a list what is too large for one, and only there', async () => {
    await fresh();
    const large = 'x'.repeat(LISTED_BYTES);
    await write((unit) => unit.saveAgent(agent('small')));
    await write((unit) => unit.saveAgent(agent('large', { displayName: large })));
    await write((unit) => unit.saveAgent(agent('wide', { displayName: '界'.repeat(LISTED_BYTES / 3) })));
    const entries = await stores.history.list(tenant, {}, null, 10);
    expect(entries.map(({ change }) => change?.after ?? null)).toEqual([null, null, expect.objectContaining({ displayName: 'small' })]);
    expect(await get(2)).toMatchObject({ after: { displayName: large } });
  });

  it('keeps names such as __proto__, NUL and halves of surrogate pairs as they are', async () => {
    await fresh();
    const inputSchema = { type: 'object', properties: JSON.parse('{"__proto__": {"default": "\\u0000 \\ud800"}}') as object };
    await write((unit) => unit.saveSync('s', plan(declare('__proto__', { inputSchema }))));
    await write((unit) => unit.saveAgent(agent('m', { toolOverrides: JSON.parse('{"__proto__": {"label": "odd"}}') as object })));
    const [sync, saved] = [await get(1), await get(2)];
    expect(JSON.stringify(sync.after)).toContain(JSON.stringify(inputSchema));
    expect(JSON.stringify(saved.after)).toContain('"toolOverrides":{"__proto__":{"label":"odd"}}');
  });

  it('holds a large import as one entry each', async () => {
    await fresh();
    const long = 'y'.repeat(5_000);
    await write(async (unit) => {
      for (let i = 0; i < 300; i += 1) await unit.saveAgent(agent(`a${i}`, { displayName: long }));
    });
    expect(await listed({}, null, 2_000)).toEqual(Array.from({ length: 300 }, (_, i) => 300 - i));
  });

  it('is removed when it is older than the tenant keeps it, the oldest first, some at a time', async () => {
    await fresh();
    for (const id of ['a', 'b', 'c', 'd']) await write((unit) => unit.saveAgent(agent(id)));
    await stores.age(tenant, 1, 401);
    await stores.age(tenant, 2, 450);
    await stores.age(tenant, 3, 399);
    expect([await stores.history.sweep(tenant, 1), await stores.history.sweep(tenant, 10), await stores.history.sweep(tenant, 10)]).toEqual([1, 1, 0]);
    expect(await listed()).toEqual([4, 3]);
    await write((unit) => unit.saveSettings({ ...DEFAULT_SETTINGS, historyRetentionDays: 1 }));
    expect(await stores.history.sweep(tenant, 10)).toBe(1);
    expect([await listed(), await stores.history.sweep('nobody' as TenantId, 10)]).toEqual([[5, 4], 0]);
  });

  it('goes with its tenant, and another tenant has none of it', async () => {
    await fresh();
    await write((unit) => unit.saveAgent(agent('m')));
    const before = tenant;
    await fresh();
    expect([await listed(), await stores.history.find(tenant, 1)]).toEqual([[], null]);
    tenant = before;
    await stores.tenants.delete(tenant);
    await stores.tenants.create(tenant, 'again');
    expect(await listed()).toEqual([]);
  });
});
