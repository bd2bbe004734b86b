import { describe, expect, it } from '@jest/globals';
import { announcementOf } from '../platform/announcement.js';
import { createLogger } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { Listener } from './announcements.js';
import { Announcements } from './announcements.js';
import type { Invalidated } from './invalidation.js';
import { Invalidation } from './invalidation.js';
import type { RevisionWatch } from './revision-watch.js';

const TENANT = 't' as TenantId;

class HeldRoad extends Announcements {
  override readonly road = 'redis';
  listener: Listener | null = null;
  override start = (listener: Listener): void => void (this.listener = listener);
  override stop = (): Promise<void> => Promise.resolve();
}

const setUp = (kept: Partial<Invalidated>) => {
  const road = new HeldRoad();
  const metrics = new Metrics();
  const heard: unknown[] = [];
  const watch = { start: () => undefined, lookSoon: () => void heard.push('look') } as unknown as RevisionWatch;
  const all: Invalidated = {
    revision: (...news) => heard.push(['revision', ...news]) > 0,
    tenant: (tenant) => void heard.push(['tenant', tenant]),
    keysRevoked: (...news) => void heard.push(['keys', ...news]),
    ...kept,
  };
  new Invalidation([road], watch, all, metrics, createLogger('silent')).start();
  if (road.listener === null) throw new Error('nobody listens');
  return { listener: road.listener, metrics, heard };
};

describe('what another replica tells', () => {
  it('reaches what is kept here', () => {
    const { listener, heard } = setUp({});
    listener.hear(announcementOf(TENANT, 'agent', 7, ['m']));
    listener.hear(announcementOf(TENANT, 'tenant', null, []));
    listener.hear(announcementOf(TENANT, 'key', null, ['k']));
    listener.hear({ ...announcementOf(TENANT, 'key', null, []), ids: null });
    listener.gap();
    expect(heard).toEqual([['revision', TENANT, 7], ['tenant', TENANT], ['keys', TENANT, ['k']], ['keys', TENANT, null], 'look']);
  });

  it('is counted once, with its lag, and only when it was news', async () => {
    const { listener, metrics } = setUp({ revision: (_, revision) => revision === 7 });
    for (const revision of [7, 6]) listener.hear(announcementOf(TENANT, 'catalog', revision, []));
    const told = await metrics.registry.metrics();
    expect(told).toContain('toolcrib_invalidations_total{road="redis"} 1');
    expect(told).toContain('toolcrib_invalidation_lag_seconds_count{road="redis"} 1');
  });

  it('ends nothing, whatever goes wrong with it, and has the replica look for itself', () => {
    const { listener, heard } = setUp({ revision: () => { throw new Error('boom'); } });
    listener.hear(announcementOf(TENANT, 'agent', 7, []));
    expect(heard).toEqual(['look']);
  });
});
