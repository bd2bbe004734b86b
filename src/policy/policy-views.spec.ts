import { describe, expect, it } from '@jest/globals';
import type { AgentRecord } from '../core/agent-document.js';
import { normaliseDocument } from '../core/agent-document.js';
import type { PolicyDelta, PolicyPoint } from '../core/policy-view.js';
import { DEFAULT_SETTINGS } from '../core/settings.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyLoader } from './policy.loader.js';
import { PolicyViews } from './policy-views.js';

const TENANT = 't' as TenantId;

const agentRecord = (agentId: string): AgentRecord => ({ agentId, document: normaliseDocument(agentId, {}), origin: 'native', legacy: null, revision: 1, updatedAt: '' });

/** A loader whose answers the test holds in its hand. */
class HeldLoader extends PolicyLoader {
  revision = 1;
  broken = false;
  gone = false;
  loads = 0;
  records = 0;
  hold: Promise<void> = Promise.resolve();

  override async load(_tenant: TenantId, since: PolicyPoint | null): Promise<PolicyDelta | 'unchanged' | null> {
    this.loads += 1;
    const { revision, broken, gone } = this;
    await this.hold;
    if (broken) throw new Error('ECONNREFUSED');
    if (gone) return null;
    if (since?.revision === revision) return 'unchanged';
    return { incarnation: 'i', revision, settings: DEFAULT_SETTINGS, settingsRevision: 0, complete: since === null, tools: [], categories: [], agents: Array.from({ length: this.records }, (_, i) => agentRecord(`a${i}`)) };
  }
}

const setUp = () => {
  const loader = new HeldLoader();
  const clock = { now: 1_000 };
  return { loader, clock, views: new PolicyViews(loader, new Metrics(), 30_000, () => clock.now) };
};

describe('INVARIANT (freshness)', () => {
  it('a view is read once and answered from until it is 600 ms old', async () => {
    const { loader, clock, views } = setUp();
    expect(views.hot(TENANT)).toBeNull();
    await views.get(TENANT);
    clock.now += 599;
    expect(views.hot(TENANT)?.revision).toBe(1);
    clock.now += 1;
    expect(views.hot(TENANT)).toBeNull();
    loader.revision = 2;
    expect((await views.get(TENANT)).view.revision).toBe(2);
    expect(loader.loads).toBe(2);
  });

  it('a view that did not change is the same one, not compiled again', async () => {
    const { clock, views } = setUp();
    const { view } = await views.get(TENANT);
    clock.now += 700;
    expect((await views.get(TENANT)).view).toBe(view);
  });

  it('a commit of this process is seen by the next decision, even when a look had begun before it', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    clock.now += 700;
    let release = (): void => undefined;
    loader.hold = new Promise((resolve) => (release = resolve));
    const overtaken = views.get(TENANT);
    clock.now += 5;
    loader.revision = 2;
    views.noteCommit(TENANT);
    release();
    await overtaken;
    expect(views.hot(TENANT)).toBeNull();
    expect((await views.get(TENANT)).view.revision).toBe(2);
  });

  it('many who ask at once share one look', async () => {
    const { loader, views } = setUp();
    await Promise.all(Array.from({ length: 50 }, () => views.get(TENANT)));
    expect(loader.loads).toBeLessThanOrEqual(2);
  });

  it('one who wants what is there now does not share a look that began before', async () => {
    const { loader, views } = setUp();
    let release = (): void => undefined;
    loader.hold = new Promise((resolve) => (release = resolve));
    const first = views.get(TENANT);
    loader.revision = 2;
    const second = views.fresh(TENANT);
    release();
    expect([(await first).view.revision, (await second).revision]).toEqual([1, 2]);
  });

  it('while the database is away the last view is told as stale, up to the bound and no longer', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    loader.broken = true;
    clock.now += 1_000;
    expect(await views.get(TENANT)).toMatchObject({ staleForMs: 1_000 });
    clock.now += 100;
    const { loads } = loader;
    expect(await views.get(TENANT)).toMatchObject({ staleForMs: 1_100 });
    expect(loader.loads).toBe(loads);
    clock.now += 29_000;
    await expect(views.get(TENANT)).rejects.toMatchObject({ code: 'TOO_STALE' });
    loader.broken = false;
    expect(await views.get(TENANT)).toMatchObject({ staleForMs: 0 });
  });

  it('a failure that is old news keeps nobody from what is there now', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    loader.broken = true;
    clock.now += 700;
    expect(await views.get(TENANT)).toMatchObject({ staleForMs: 700 });
    loader.broken = false;
    loader.revision = 2;
    clock.now += 11_000;
    expect(await views.get(TENANT)).toMatchObject({ staleForMs: 0, view: { revision: 2 } });
  });

  it('a failure that is old news keeps nobody who comes while another one looks', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    loader.broken = true;
    clock.now += 700;
    await views.get(TENANT);
    loader.broken = false;
    clock.now += 60_000;
    const all = await Promise.all(Array.from({ length: 5 }, () => views.get(TENANT)));
    expect(all.map(({ staleForMs }) => staleForMs)).toEqual([0, 0, 0, 0, 0]);
  });

  it('nothing is answered for a tenant that was never read, or is gone', async () => {
    const { loader, clock, views } = setUp();
    loader.broken = true;
    await expect(views.get(TENANT)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    loader.broken = false;
    clock.now += 1_000;
    await views.get(TENANT);
    loader.gone = true;
    clock.now += 1_000;
    await expect(views.get(TENANT)).rejects.toMatchObject({ code: 'TENANT_NOT_FOUND' });
    expect(views.hot(TENANT)).toBeNull();
  });

  it('no more is kept than may be: a large tenant puts another one out', async () => {
    const loader = new HeldLoader();
    loader.records = 30;
    const views = new PolicyViews(loader, new Metrics(), 30_000, () => 1_000, 10_000);
    const other = 'u' as TenantId;
    await views.get(TENANT);
    expect(views.hot(TENANT)).not.toBeNull();
    await views.get(other);
    expect([views.hot(TENANT), views.hot(other)?.revision]).toEqual([null, 1]);
  });

  it('a commit after a failure makes the next decision look again', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    loader.broken = true;
    clock.now += 700;
    expect(await views.get(TENANT)).toMatchObject({ staleForMs: 700 });
    loader.broken = false;
    loader.revision = 2;
    clock.now += 1;
    views.noteCommit(TENANT);
    clock.now += 1;
    expect(await views.get(TENANT)).toMatchObject({ staleForMs: 0, view: { revision: 2 } });
  });

  it('an older revision than the one asked for is never answered', async () => {
    const { loader, views } = setUp();
    await views.get(TENANT);
    loader.revision = 2;
    expect((await views.get(TENANT, 2)).view.revision).toBe(2);
    expect((await views.get(TENANT, 1)).view.revision).toBe(2);
  });

  const at = (revision: number, incarnation = 'i') => new Map([[TENANT, { incarnation, revision }]]);

  it('a view that a look for all finds unchanged is fresh again, and nobody reads it', async () => {
    const { loader, clock, views } = setUp();
    const { view } = await views.get(TENANT);
    for (let i = 0; i < 10; i += 1) {
      clock.now += 400;
      expect(views.inUse()).toEqual([TENANT]);
      views.confirm([TENANT], at(1), clock.now);
      expect(views.hot(TENANT)).toBe(view);
    }
    expect(loader.loads).toBe(1);
  });

  it('a look that began before is no news of later', async () => {
    const { clock, views } = setUp();
    await views.get(TENANT);
    clock.now += 500;
    views.confirm([TENANT], at(1), clock.now - 300);
    clock.now += 301;
    expect(views.hot(TENANT)).toBeNull();
  });

  it('a commit of this process is not undone by a look that finds the view unchanged', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    clock.now += 10;
    loader.revision = 2;
    views.noteCommit(TENANT);
    views.confirm([TENANT], at(1), clock.now);
    expect(views.hot(TENANT)).toBeNull();
    expect((await views.get(TENANT)).view.revision).toBe(2);
  });

  it.each([['a later revision', at(2)], ['another incarnation', at(1, 'j')], ['no such tenant', new Map()]])('a look that finds %s has the view read at once', async (_, points) => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    clock.now += 10;
    loader.revision = 2;
    views.confirm([TENANT], points, clock.now);
    expect(views.hot(TENANT)).toBeNull();
    await new Promise(setImmediate);
    expect([views.hot(TENANT)?.revision, loader.loads]).toEqual([2, 2]);
  });

  it('a message of a later revision has the view read once, whoever repeats it', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    clock.now += 10;
    loader.revision = 2;
    expect([views.noteRevision(TENANT, 2), views.noteRevision(TENANT, 2), views.noteRevision(TENANT, 1)]).toEqual([true, false, false]);
    await new Promise(setImmediate);
    expect([views.hot(TENANT)?.revision, views.noteRevision(TENANT, 2), loader.loads]).toEqual([2, false, 2]);
  });

  it('a made-up message costs a look and masks no later one', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    clock.now += 10;
    expect(views.noteRevision(TENANT, Number.MAX_SAFE_INTEGER)).toBe(true);
    await new Promise(setImmediate);
    expect(views.hot(TENANT)?.revision).toBe(1);
    loader.revision = 2;
    expect(views.noteRevision(TENANT, 2)).toBe(true);
    await new Promise(setImmediate);
    expect(views.hot(TENANT)?.revision).toBe(2);
  });

  it('a message of a tenant that nobody asks for reads nothing', async () => {
    const { loader, views } = setUp();
    expect(views.noteRevision(TENANT, 9)).toBe(false);
    expect([loader.loads, views.inUse(), views.isKnown(TENANT)]).toEqual([0, [], false]);
  });

  it('nobody waits for a database of which a look for all has found that it is away', async () => {
    const { loader, clock, views } = setUp();
    await views.get(TENANT);
    loader.hold = new Promise(() => undefined);
    views.noteFailure([TENANT]);
    clock.now += 700;
    expect(await views.get(TENANT)).toMatchObject({ staleForMs: 700 });
  });

  it('a revision that is not there is waited for two seconds, however slow the database', async () => {
    const loader = new HeldLoader();
    const views = new PolicyViews(loader, new Metrics(), 30_000);
    await views.get(TENANT);
    loader.hold = new Promise(() => undefined);
    const start = performance.now();
    await expect(views.get(TENANT, 9)).rejects.toMatchObject({ code: 'REVISION_NOT_REACHED' });
    expect(performance.now() - start).toBeGreaterThan(1_900);
  });
});

describe('metrics of views', () => {
  it('tell hits and misses, the time to read, and the revision of what is kept and of nothing else', async () => {
    const loader = new HeldLoader();
    loader.records = 30;
    const metrics = new Metrics();
    const views = new PolicyViews(loader, metrics, 30_000, () => 1_000, 10_000);
    expect([views.hot(TENANT), (await views.get(TENANT)).view.revision, views.hot(TENANT)?.revision]).toEqual([null, 1, 1]);
    const told = await metrics.registry.metrics();
    for (const line of ['toolcrib_cache_requests_total{level="view",outcome="hit"} 1', 'toolcrib_cache_requests_total{level="view",outcome="miss"} 1', 'toolcrib_cache_fill_seconds_count{level="view"} 1', 'toolcrib_view_revision{tenant="t"} 1']) expect(told).toContain(line);
    await views.get('u' as TenantId);
    expect(await metrics.registry.metrics()).not.toContain('toolcrib_view_revision{tenant="t"}');
  });
});
