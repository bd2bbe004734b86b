import { describe, expect, it } from '@jest/globals';
import { announcementOf, readAnnouncement } from './announcement.js';
import type { TenantId } from './tenant-id.js';

const TENANT = 't' as TenantId;

describe('an announcement', () => {
  it('is read as it was told', () => {
    const told = announcementOf(TENANT, 'agent', 7, ['研究员', '🤖']);
    expect(readAnnouncement(JSON.stringify(told))).toEqual(told);
  });

  it('fits what PostgreSQL takes, whatever it is about', () => {
    const told = announcementOf(TENANT, 'catalog', Number.MAX_SAFE_INTEGER, Array.from({ length: 5_000 }, (_, i) => `工具_${i}`));
    expect(told.ids).toBeNull();
    const most = announcementOf('t'.repeat(63) as TenantId, 'settings', Number.MAX_SAFE_INTEGER, ['"'.repeat(2_990)]);
    expect(most.ids).not.toBeNull();
    expect(Buffer.byteLength(JSON.stringify(most))).toBeLessThan(8_000);
  });

  it('that somebody made up is none', () => {
    const good = announcementOf(TENANT, 'agent', 7, []);
    const damaged = [{ tenant: '../t' }, { tenant: 1 }, { kind: 'everything' }, { kind: '__proto__' }, { revision: -1 }, { revision: 1.5 }, { revision: '7' }, { ids: [1] }, { ids: {} }, { at: null }];
    for (const at of ['1e400', '-1e400']) expect(readAnnouncement(JSON.stringify(good).replace(String(good.at), at))).toBeNull();
    for (const change of damaged) expect([change, readAnnouncement(JSON.stringify({ ...good, ...change }))]).toEqual([change, null]);
    for (const text of ['', 'null', '[]', '{', '"x"', '\u0000']) expect(readAnnouncement(text)).toBeNull();
  });
});
