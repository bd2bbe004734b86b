import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { normaliseDocument } from '../../src/core/agent-document.js';
import { applyDelta } from '../../src/core/policy-view.js';
import type { PolicyDelta } from '../../src/core/policy-view.js';
import { DEFAULT_SETTINGS } from '../../src/core/settings.js';
import type { GovernanceStore, GovernanceUnit } from '../../src/governance/governance.store.js';
import { PrismaGovernanceStore } from '../../src/governance/prisma-governance.store.js';
import type { AppError } from '../../src/platform/errors/app-error.js';
import { PrismaRevisionLoader } from '../../src/invalidation/prisma-revision.loader.js';
import type { RevisionLoader } from '../../src/invalidation/revision.loader.js';
import { DatabaseLooks } from '../../src/platform/database/looks.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import type { PolicyLoader } from '../../src/policy/policy.loader.js';
import { PrismaPolicyLoader } from '../../src/policy/prisma-policy.loader.js';
import type { KeyStore } from '../../src/tenancy/key.store.js';
import { PrismaKeyStore } from '../../src/tenancy/prisma-key.store.js';
import { PrismaTenantStore } from '../../src/tenancy/prisma-tenant.store.js';
import type { TenantStore } from '../../src/tenancy/tenant.store.js';
import { authorFor } from '../support/authors.js';
import { DATABASES } from '../support/databases.js';
import { declare, plan } from '../support/declared.js';
import { MemoryWorld } from '../support/memory-world.js';

interface Stores {
  readonly governance: GovernanceStore;
  readonly policy: PolicyLoader;
  readonly tenants: TenantStore;
  readonly keys: KeyStore;
  readonly revisions: RevisionLoader;
  readonly close: () => Promise<void>;
}

const KINDS: readonly { readonly name: string; readonly open: () => Promise<Stores> }[] = [
  {
    name: 'in memory',
    open: async () => {
      const world = new MemoryWorld();
      return { governance: world.governance, policy: world.policy, tenants: world.tenantStore, keys: world.keyStore, revisions: world.revisions, close: () => Promise.resolve() };
    },
  },
  ...DATABASES.map(({ name, open }) => ({
    name: `Prisma, ${name}`,
    open: async () => {
      const { database, close } = await open();
      return { governance: new PrismaGovernanceStore(database), policy: new PrismaPolicyLoader(database), tenants: new PrismaTenantStore(database), keys: new PrismaKeyStore(database), revisions: new PrismaRevisionLoader(database, new DatabaseLooks(database.pool)), close };
    },
  })),
];

const document = normaliseDocument('m', { tools: { enabled: ['a', '__proto__'] }, toolOverrides: Object.fromEntries([['__proto__', { label: 'odd' }]]) });
const agent = (agentId: string) => ({ agentId, document, origin: 'native' as const, legacy: null });

describe.each(KINDS)('the stores, $name', ({ open }) => {
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
  const load = async (since: PolicyDelta | null = null): Promise<PolicyDelta> => {
    const delta = await stores.policy.load(tenant, since);
    if (delta === null || delta === 'unchanged') throw new Error(`no delta: ${String(delta)}`);
    return delta;
  };

  it('INVARIANT (revision): give each write the next revision, and tell the listener after the commit', async () => {
    await fresh();
    const heard: number[] = [];
    stores.governance.onCommit(({ tenant: of, revision }) => {
      if (of === tenant) heard.push(revision);
    });
    expect((await write((unit) => unit.saveSync('s', plan(declare('a'))))).revision).toBe(1);
    expect((await write(async (unit) => { await unit.saveAgent(agent('m')); await unit.saveAgent(agent('n')); })).revision).toBe(3);
    expect((await write(async (unit) => unit.findTool('a'))).revision).toBe(3);
    expect(heard).toEqual([1, 3]);
  });

  it('keep nothing of a write that fails, not even its revision', async () => {
    await fresh();
    const failing = write(async (unit) => {
      await unit.saveSync('s', plan(declare('a')));
      await unit.saveAgent(agent('m'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await load()).toMatchObject({ revision: 0, tools: [], agents: [] });
  });

  it('refuse to write for a tenant that is not there', async () => {
    tenant = 'nobody' as TenantId;
    await expect(write(async () => 1)).rejects.toEqual(expect.objectContaining({ code: 'TENANT_NOT_FOUND' } satisfies Partial<AppError>));
    expect(await stores.policy.load(tenant, null)).toBeNull();
  });

  it('keep overrides through a sync, and a tool that goes and comes back', async () => {
    await fresh();
    await write((unit) => unit.saveSync('s', plan(declare('a'), declare('b'))));
    await write((unit) => unit.saveGovernance('a', { status: 'disabled' }));
    await write((unit) => unit.saveSync('s', { declarations: [declare('b', { sort: 4 })], missing: ['a'], categories: null }));
    await write((unit) => unit.saveSync('s', plan(declare('a', { label: 'back' }))));
    const { tools } = await load();
    expect([...tools].sort((x, y) => (x.name < y.name ? -1 : 1))).toEqual([
      { name: 'a', source: 's', available: true, declaration: declare('a', { label: 'back' }), governance: { status: 'disabled' }, revision: 4 },
      { name: 'b', source: 's', available: true, declaration: declare('b', { sort: 4 }), governance: {}, revision: 3 },
    ]);
  });

  it('keep names such as __proto__, the order of members, and other scripts', async () => {
    await fresh();
    const inputSchema = { type: 'object', properties: { z: { type: 'string', description: '路径 🗂️' }, a: { type: 'number' } } };
    await write((unit) => unit.saveSync('s', plan(declare('__proto__', { inputSchema }), declare('constructor'))));
    await write((unit) => unit.saveAgent(agent('代理 🤖')));
    const delta = await load();
    expect(delta.agents.map(({ agentId, document: saved }) => [agentId, saved])).toEqual([['代理 🤖', document]]);
    const view = applyDelta(null, delta);
    expect(JSON.stringify(view.byName.get('__proto__')?.effective.inputSchema)).toBe(JSON.stringify(inputSchema));
    expect(view.byName.has('constructor')).toBe(true);
  });

  it('answer a look at an unchanged tenant without its data, and a changed one with what changed', async () => {
    await fresh();
    await write((unit) => unit.saveSync('s', plan(declare('a'), declare('b'))));
    await write((unit) => unit.saveAgent(agent('m')));
    const first = await load();
    expect(await stores.policy.load(tenant, first)).toBe('unchanged');
    await write((unit) => unit.saveGovernance('b', { sort: 9 }));
    const second = await load(first);
    expect(second).toMatchObject({ complete: false, agents: [], tools: [{ name: 'b', governance: { sort: 9 } }] });
    await write((unit) => unit.deleteAgent('m'));
    const third = await load(second);
    expect(third).toMatchObject({ complete: true, agents: [] });
    expect(applyDelta(applyDelta(applyDelta(null, first), second), third)).toEqual(applyDelta(null, await load()));
  });

  it('read what is asked for inside a write', async () => {
    await fresh();
    await write((unit) => unit.saveSync('s', { ...plan(declare('a')), categories: [{ source: 's', key: 'k', label: 'K', whenToUse: 'w', sort: 0 }] }));
    await write((unit) => unit.saveAgent(agent('m')));
    await write((unit) => unit.saveSettings({ ...DEFAULT_SETTINGS, maxSubagentDepth: 5 }));
    await write(async (unit) => {
      expect((await unit.catalog()).tools.map(({ name }) => name)).toEqual(['a']);
      expect((await unit.catalog()).categories).toEqual([{ source: 's', key: 'k', label: 'K', whenToUse: 'w', sort: 0 }]);
      expect((await unit.tools(['a', 'ghost'])).map(({ name }) => name)).toEqual(['a']);
      expect(await unit.tools([])).toEqual([]);
      expect(await unit.findTool('ghost')).toBeNull();
      expect(await unit.findAgent('ghost')).toBeNull();
      expect(await unit.existingAgents(['m', 'ghost'])).toEqual(new Set(['m']));
      expect(await unit.countAgents()).toBe(1);
      expect(unit.settings()).toEqual({ settings: { ...DEFAULT_SETTINGS, maxSubagentDepth: 5 }, revision: 3 });
    });
  });

  it('let two writers of one tenant through one after the other, with no revision lost or given twice', async () => {
    await fresh();
    await write((unit) => unit.saveAgent(agent('m')));
    const writes = await Promise.all(Array.from({ length: 20 }, (_, i) => write(async (unit) => {
      const before = await unit.findAgent('m');
      if (before === null) throw new Error('gone');
      const enabled = [...before.document.tools.enabled, `t${i}`];
      return (await unit.saveAgent({ ...before, document: { ...before.document, tools: { ...before.document.tools, enabled } } })).revision;
    })));
    expect(writes.map(({ result }) => result).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 2));
    const { agents } = await load();
    expect(agents[0]?.document.tools.enabled).toHaveLength(22);
  });

  it('list tenants and keys by id, page by page, and delete them once', async () => {
    await fresh();
    const key = (keyId: string) => ({ keyId, name: `key ${keyId}`, hash: new Uint8Array([1, 2]), scopes: ['decide' as const], expiresAt: null });
    for (const keyId of ['k3', 'k1', 'k2']) await stores.keys.create(tenant, key(keyId));
    expect((await stores.keys.list(tenant, null, 2)).map(({ keyId }) => keyId)).toEqual(['k1', 'k2']);
    expect((await stores.keys.list(tenant, 'k2', 2)).map(({ keyId }) => keyId)).toEqual(['k3']);
    expect(await stores.keys.find(tenant, 'k1')).toMatchObject({ name: 'key k1', scopes: ['decide'], expiresAt: null });
    expect((await stores.keys.findMany(tenant, ['k3', 'k9', 'k1'])).map(({ keyId }) => keyId).sort()).toEqual(['k1', 'k3']);
    expect(await stores.keys.findMany('nobody' as TenantId, ['k1'])).toEqual([]);
    expect([await stores.keys.delete(tenant, 'k1'), await stores.keys.delete(tenant, 'k1'), await stores.keys.find(tenant, 'k1')]).toEqual([true, false, null]);
    expect(await stores.tenants.create(tenant, 'again')).toBeNull();
    expect((await stores.tenants.list(null, 500)).some(({ tenantId }) => tenantId === tenant)).toBe(true);
    expect(await stores.tenants.list(tenant, 500)).not.toContainEqual(expect.objectContaining({ tenantId: tenant }));
  });

  it('take everything of a tenant with it, and start a new one of that name from nothing', async () => {
    await fresh();
    await write((unit) => unit.saveAgent(agent('m')));
    const before = await load();
    expect([await stores.tenants.delete(tenant), await stores.tenants.exists(tenant), await stores.tenants.delete(tenant)]).toEqual([true, false, false]);
    await stores.tenants.create(tenant, 'again');
    await write((unit) => unit.saveAgent(agent('n')));
    const after = await load(before);
    expect(after).toMatchObject({ complete: true, revision: 1, agents: [{ agentId: 'n' }] });
    expect(after.incarnation).not.toBe(before.incarnation);
  });

  it('tell in one look where tenants stand and which keys are there', async () => {
    const key = (keyId: string) => ({ keyId, name: 'k', hash: new Uint8Array([1]), scopes: ['decide' as const], expiresAt: null });
    await fresh();
    const other = tenant;
    await stores.keys.create(other, key('k1'));
    await fresh();
    await stores.keys.create(tenant, key('k2'));
    await write((unit) => unit.saveAgent(agent('m')));
    const asked = [{ tenant, keyId: 'k2' }, { tenant: other, keyId: 'k1' }, { tenant, keyId: 'k1' }, { tenant: 'nobody' as TenantId, keyId: 'k1' }];
    const { points, keys } = await stores.revisions.look([tenant, other, 'nobody' as TenantId], asked);
    expect(points.get(tenant)).toEqual({ incarnation: (await load()).incarnation, revision: 1 });
    expect([points.size, points.get(other)?.revision]).toEqual([2, 0]);
    expect([...keys].sort((a, b) => (a.keyId < b.keyId ? -1 : 1))).toEqual([{ tenant: other, keyId: 'k1' }, { tenant, keyId: 'k2' }]);
    expect(await stores.revisions.look([], [])).toEqual({ points: new Map(), keys: [] });
    await stores.keys.delete(tenant, 'k2');
    await stores.tenants.delete(other);
    expect(await stores.revisions.look([other], asked)).toEqual({ points: new Map(), keys: [] });
  });

  it('read a tenant whole for who knows of later revisions than there are: the database has lost some', async () => {
    await fresh();
    await write((unit) => unit.saveAgent(agent('m')));
    const { incarnation } = await load();
    expect(await stores.policy.load(tenant, { incarnation, revision: 9 })).toMatchObject({ revision: 1, complete: true, agents: [{ agentId: 'm' }] });
  });
});
