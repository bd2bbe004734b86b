import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { SigningKey } from '../../test/support/issuer.js';
import { LocalIssuer, newSigningKey } from '../../test/support/issuer.js';
import { createLogger } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { KeySet } from './issuer.js';
import { Issuer } from './issuer.js';
import { SigningKeys } from './signing-keys.js';

const MAX_AGE_MS = 300_000;
const TIMEOUT_MS = 400;
const DAY_MS = 86_400_000;
const AWAY = { code: 'ISSUER_UNAVAILABLE' };

describe('what is known of the keys of an issuer', () => {
  let issuer: LocalIssuer;
  let [first, second]: SigningKey[] = [];
  beforeAll(async () => {
    [first, second] = [await newSigningKey('first'), await newSigningKey('second')];
  });
  beforeEach(async () => {
    issuer = await LocalIssuer.start(first as SigningKey);
  });
  afterEach(() => issuer.close());

  const setUp = (jwksUri: string | null = null) => {
    const clock = { now: 1_000 };
    const logged: string[] = [];
    const logger = createLogger('debug', { write: (line: string) => void logged.push(line) });
    const keys = new SigningKeys(new Issuer({ issuer: issuer.url, jwksUri }, TIMEOUT_MS), { maxAgeMs: MAX_AGE_MS, metrics: new Metrics(), logger, now: () => clock.now });
    return { clock, keys, logged };
  };
  const has = (keys: KeySet, kid: string): Promise<boolean> => keys.find({ alg: 'ES256', kid }, { payload: '', signature: '' }).then(() => true, () => false);
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 500 && !isSo(); tries += 1) await sleep(10);
    expect(isSo()).toBe(true);
  };

  it('is read once for all who ask, by discovery or from the address that is set', async () => {
    const { keys } = setUp();
    expect(keys.hot()).toBeNull();
    const all = await Promise.all(Array.from({ length: 20 }, () => keys.current()));
    expect([new Set(all).size, issuer.looks, issuer.discoveries]).toEqual([1, 1, 1]);
    expect([keys.hot(), await has(all[0] as KeySet, 'first'), await has(all[0] as KeySet, 'second')]).toEqual([all[0], true, false]);
    const { keys: direct } = setUp(`${issuer.url}/elsewhere`);
    await direct.current();
    expect([issuer.looks, issuer.discoveries]).toEqual([2, 1]);
  });

  it('stays the same object when the same keys are published in another order', async () => {
    const { clock, keys } = setUp();
    issuer.keys = [first as SigningKey, second as SigningKey];
    const before = await keys.current();
    issuer.keys.reverse();
    clock.now += MAX_AGE_MS + 1;
    expect([await keys.current(), issuer.looks]).toEqual([before, 2]);
    expect(await keys.current()).toBe(before);
    issuer.keys.pop();
    clock.now += MAX_AGE_MS + 1;
    expect(await keys.current()).not.toBe(before);
  });

  it('is read anew past half its age while nobody waits, and stays the same object when nothing changed', async () => {
    const { clock, keys } = setUp();
    const before = await keys.current();
    clock.now += MAX_AGE_MS / 2;
    expect(keys.hot()).toBe(before);
    await until(() => issuer.looks === 2);
    await sleep(50);
    clock.now += MAX_AGE_MS - 1;
    expect(keys.hot()).toBe(before);
    issuer.keys = [second as SigningKey];
    clock.now += 1;
    const after = await keys.current();
    expect([after === before, await has(after, 'first'), await has(after, 'second')]).toEqual([false, false, true]);
  });

  it('is asked for at once when a token names another key, and then not again for a while, however many do', async () => {
    const { clock, keys } = setUp();
    await keys.current();
    issuer.keys.push(second as SigningKey);
    const found = await Promise.all(Array.from({ length: 100 }, () => keys.hunt()));
    expect([issuer.looks, await has(found[0] as KeySet, 'second'), new Set(found).size]).toEqual([2, true, 1]);
    for (let i = 0; i < 100; i += 1) expect(await keys.hunt()).toBeNull();
    clock.now += 9_999;
    expect(await keys.hunt()).toBeNull();
    expect(issuer.looks).toBe(2);
    clock.now += 1;
    expect(await keys.hunt()).toBe(found[0]);
    expect(issuer.looks).toBe(3);
  });

  it.each(['failing', 'hung', 'garbage', 'huge', 'closed'] as const)('goes on for a day while the issuer is %s, which is told once, and tells that others can not be known', async (mode) => {
    const { clock, keys, logged } = setUp();
    const known = await keys.current();
    if (mode === 'closed') await issuer.close();
    else issuer.mode = mode;
    await expect(keys.hunt()).rejects.toMatchObject(AWAY);
    await expect(keys.hunt()).rejects.toMatchObject(AWAY);
    clock.now += MAX_AGE_MS;
    const asked = performance.now();
    expect(await keys.current()).toBe(known);
    expect(performance.now() - asked).toBeLessThan(1_500);
    clock.now += DAY_MS - MAX_AGE_MS - 1;
    expect(await keys.current()).toBe(known);
    expect(keys.hot()).toBeNull();
    await sleep(mode === 'hung' ? 2 * TIMEOUT_MS : 100);
    clock.now += 2;
    await expect(keys.current()).rejects.toMatchObject(AWAY);
    expect(logged.filter((line) => line.includes('"level":40'))).toHaveLength(1);
    if (mode === 'closed') await issuer.listen();
    issuer.mode = 'well';
    clock.now += 1_000;
    await keys.current();
    expect(keys.hot()).not.toBeNull();
    expect(logged.at(-1)).toContain('is back');
  });

  it.each(['failing', 'hung'] as const)('is asked for once a second at the most while nothing is known and the issuer is %s', async (mode) => {
    const { clock, keys } = setUp();
    issuer.mode = mode;
    const begun = performance.now();
    await expect(keys.current()).rejects.toMatchObject(AWAY);
    expect(performance.now() - begun).toBeLessThan(TIMEOUT_MS + 600);
    for (let i = 0; i < 100; i += 1) await expect(keys.current()).rejects.toMatchObject(AWAY);
    expect(issuer.discoveries).toBe(1);
    issuer.mode = 'well';
    clock.now += 1_000;
    expect(await has(await keys.current(), 'first')).toBe(true);
  });

  it.each([{ issuer: 'https://other.example', jwks_uri: 'https://other.example/keys' }, { jwks_uri: 'https://other.example/keys' }, [], 'x', null])('is not taken from the discovery document %j', async (discovery) => {
    issuer.discovery = discovery;
    await expect(setUp().keys.current()).rejects.toMatchObject(AWAY);
    expect(issuer.looks).toBe(0);
  });

  it('is not taken from an address that others could speak for', async () => {
    for (const jwks_uri of [undefined, 7, 'http://keys.example', 'file:///etc/keys', '/keys']) {
      issuer.discovery = { issuer: issuer.url, jwks_uri };
      const { keys, logged } = setUp();
      await expect(keys.current()).rejects.toMatchObject(AWAY);
      expect(logged.join('')).toContain('could be trusted');
    }
    expect(issuer.looks).toBe(0);
  });
});
