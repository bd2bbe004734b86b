import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CryptoKey, JWTPayload } from 'jose';
import { exportSPKI, importJWK } from 'jose';
import type { SigningKey, TokenOptions } from '../../test/support/issuer.js';
import { LocalIssuer, newSigningKey } from '../../test/support/issuer.js';
import { parseConfig } from '../platform/config/config.js';
import { createLogger } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { Principal } from './authenticator.js';
import { Authenticator, presentedAs } from './authenticator.js';
import { KeyStore } from './key.store.js';
import { Issuer } from './issuer.js';
import { KnownTenants } from './known-tenants.js';
import { People } from './people.js';
import { SigningKeys } from './signing-keys.js';

const PLATFORM_KEY = 'p'.repeat(32);
const REFUSED = { code: 'UNAUTHENTICATED' };
const MAX_AGE_MS = 300_000;
const MONOTONIC = ['performance', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const;

const unused = (): never => {
  throw new Error('no key is looked up here');
};

class NoKeys extends KeyStore {
  override create = unused;
  override find = unused;
  override findMany = unused;
  override list = unused;
  override delete = unused;
}

const seconds = (): number => Math.floor(Date.now() / 1_000);
const inBase64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('people', () => {
  let issuer: LocalIssuer;
  let keys: Record<'EC' | 'RSA' | 'PSS' | 'EdDSA' | 'stranger' | 'next', SigningKey>;
  beforeAll(async () => {
    keys = {
      EC: await newSigningKey('ec'), RSA: await newSigningKey('rsa', 'RS256'), PSS: await newSigningKey('pss', 'PS256'), EdDSA: await newSigningKey('ed', 'EdDSA'),
      stranger: await newSigningKey('ec'), next: await newSigningKey('next'),
    };
    issuer = await LocalIssuer.start();
  });
  beforeEach(() => {
    issuer.keys = [keys.EC, keys.RSA, keys.PSS, keys.EdDSA];
    issuer.mode = 'well';
    issuer.looks = 0;
  });
  afterEach(() => void jest.useRealTimers());
  afterAll(() => issuer.close());

  const setUp = (environment: Record<string, string> = {}) => {
    const { oidc } = parseConfig({ ...issuer.environment, ...environment });
    if (oidc === null) throw new Error('not configured');
    const clock = { now: 1_000 };
    const now = (): number => clock.now;
    const [metrics, logged] = [new Metrics(), [] as string[]];
    const logger = createLogger('debug', { write: (line: string) => void logged.push(line) });
    const there = new Set(['acme']);
    const tenants = new KnownTenants({ exists: async (tenant) => there.has(tenant) }, 30_000, now);
    const people = new People(oidc, new SigningKeys(new Issuer(oidc), { maxAgeMs: MAX_AGE_MS, metrics, logger, now }), tenants, metrics, logger);
    const authenticator = new Authenticator(new NoKeys(), PLATFORM_KEY, 30_000, now, people);
    const outcomes = async (): Promise<Record<string, number>> => Object.fromEntries((await metrics.tokenVerifications.get()).values.map(({ labels, value }) => [String(labels.outcome), value]));
    const refuses = async (token: string): Promise<string | undefined> => {
      const before = await outcomes();
      await expect(authenticator.authenticate(token)).rejects.toMatchObject(REFUSED);
      expect(authenticator.fromMemory(token)).toBeNull();
      return Object.entries(await outcomes()).findLast(([outcome, count]) => count !== before[outcome])?.[0];
    };
    return { clock, authenticator, people, tenants, there, logged, outcomes, refuses };
  };
  const token = (claims: JWTPayload = {}, options?: TokenOptions): Promise<string> => issuer.token({ tenant: 'acme', scope: 'toolcrib:decide', ...claims }, options);

  it('are admitted by a token, of which the signature is checked once', async () => {
    const { authenticator, outcomes } = setUp();
    const text = await token({ email: 'ada@acme.example' });
    const ada: Principal = { kind: 'person', tenant: 'acme' as TenantId, keyId: 'person:user-1', keyName: 'ada@acme.example', scopes: new Set(['decide']) };
    expect(authenticator.fromMemory(text)).toBeNull();
    expect(await authenticator.authenticate(text)).toEqual(ada);
    expect(authenticator.fromMemory(text)).toEqual(ada);
    for (let i = 0; i < 10; i += 1) await authenticator.authenticate(text);
    expect(await outcomes()).toEqual({ accepted: 1 });
  });

  it('may bring a token of each algorithm that is allowed, of each usual type, without a type, and with several audiences', async () => {
    const { authenticator } = setUp();
    for (const key of [keys.EC, keys.RSA, keys.PSS, keys.EdDSA]) expect(await authenticator.authenticate(await token({}, { key }))).toMatchObject({ kind: 'person' });
    for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/at+jwt', undefined]) expect(await authenticator.authenticate(await token({}, { header: { typ } }))).toMatchObject({ kind: 'person' });
    expect(await authenticator.authenticate(await token({ aud: ['other', 'https://toolcrib.test'] }))).toMatchObject({ kind: 'person' });
    expect(await authenticator.authenticate(await token({}, { key: keys.RSA, header: { kid: undefined } }))).toMatchObject({ kind: 'person' });
  });

  it('are refused with a token of another issuer, another audience, another time, another type, or without what it must say', async () => {
    const { refuses } = setUp();
    const then = seconds();
    for (const [claims, header, reason] of [
      [{ iss: `${issuer.url}/` }, {}, 'issuer'], [{ iss: undefined }, {}, 'issuer'], [{ iss: [issuer.url] }, {}, 'issuer'],
      [{ aud: 'other' }, {}, 'audience'], [{ aud: [] }, {}, 'audience'], [{ aud: undefined }, {}, 'audience'], [{ aud: 'HTTPS://TOOLCRIB.TEST' }, {}, 'audience'],
      [{ exp: then - 31 }, {}, 'expired'], [{ exp: undefined }, {}, 'expired'], [{ exp: 'tomorrow' }, {}, 'expired'], [{ exp: null }, {}, 'expired'], [{ exp: -1 }, {}, 'expired'],
      [{ nbf: then + 60 }, {}, 'not_yet'], [{ nbf: 'now' }, {}, 'not_yet'],
      [{ sub: undefined }, {}, 'subject'], [{ sub: '' }, {}, 'subject'], [{ sub: 7 }, {}, 'subject'],
      [{ tenant: undefined }, {}, 'tenant_claim'], [{ tenant: ['acme', 'other'] }, {}, 'tenant_claim'], [{ tenant: 'nobody' }, {}, 'no_such_tenant'],
      [{}, { typ: 'logout+jwt' }, 'type'], [{}, { typ: 'dpop+jwt' }, 'type'], [{}, { typ: 7 }, 'type'], [{ cnf: { jkt: 'x' } }, {}, 'bound'],
      [{}, { crit: ['exp'], exp: 1 }, 'malformed'],
    ] as [JWTPayload, Record<string, unknown>, string][]) {
      expect({ claims, header, reason: await refuses(await tokenWithHeader(claims, header)) }).toEqual({ claims, header, reason });
    }
  });

  /** The library that signs refuses some of these headers, so they are signed by hand. */
  async function tokenWithHeader(claims: JWTPayload, header: Record<string, unknown>): Promise<string> {
    const usual = await token(claims);
    if (Object.keys(header).length === 0) return usual;
    const signed = `${inBase64({ alg: 'ES256', kid: 'ec', typ: 'JWT', ...header })}.${String(usual.split('.')[1])}`;
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, keys.EC.privateKey, Buffer.from(signed));
    return `${signed}.${Buffer.from(signature).toString('base64url')}`;
  }

  it('are refused with a token that nobody signed, or that was signed with what everybody knows', async () => {
    const { refuses, authenticator } = setUp();
    const [, payload = ''] = (await token()).split('.');
    const pem = await exportSPKI((await importJWK(keys.RSA.jwk, 'RS256')) as CryptoKey);
    const byHand = (header: object, secret: string): string => {
      const signed = `${inBase64(header)}.${payload}`;
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    };
    for (const [text, reason] of [
      [`${inBase64({ alg: 'none' })}.${payload}.`, undefined],
      [`${inBase64({ alg: 'none' })}.${payload}.AAAA`, 'algorithm'],
      [`${inBase64({ alg: 'nOnE', kid: 'rsa' })}.${payload}.AAAA`, 'algorithm'],
      [byHand({ alg: 'HS256', kid: 'rsa' }, pem), 'algorithm'],
      [byHand({ alg: 'HS256', kid: 'rsa' }, JSON.stringify(keys.RSA.jwk)), 'algorithm'],
      [byHand({ alg: 'RS256', kid: 'rsa' }, pem), 'signature'],
      [byHand({ alg: 'ES256', kid: 'rsa' }, pem), 'unknown_key'],
      [byHand({ kid: 'rsa' }, pem), 'malformed'],
      [await token({}, { key: keys.stranger }), 'signature'],
      [await token({}, { key: keys.EC, header: { jwk: keys.stranger.jwk, jku: 'http://127.0.0.1:1/keys', kid: 'mine' } }), 'unknown_key'],
      [await issuer.token({ tenant: 'acme' }, { key: { ...keys.stranger, kid: 'nobody' } }), 'unknown_key'],
    ] as const) {
      expect({ text, reason: await refuses(text) }).toEqual({ text, reason });
    }
    expect(await authenticator.authenticate(await token())).toMatchObject({ kind: 'person' });
  });

  it('are refused with a signature of an algorithm that is not allowed, although its key is published', async () => {
    const { refuses } = setUp({ TOOLCRIB_OIDC_ALGORITHMS: 'ES256' });
    expect(await refuses(await token({}, { key: keys.RSA }))).toBe('algorithm');
  });

  it.each([
    '', 'x', 'a.b.c', 'eyJ.eyJ.AAAA', 'eyJ.eyJ.', 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA.AAAA', 'eyJhbGciOiJFUzI1NiJ9.e30.A', 'eyJhbGciOiJFUzI1NiJ9.e30.AB', 'eyJhbGciOiJFUzI1NiJ9.e30.A+A/', 'tck_acme.eyJhbGciOiJFU.eyJ',
  ])('are not told by %s', async (text) => {
    const { refuses } = setUp();
    expect(presentedAs(text)?.kind).toBe(text === 'eyJ.eyJ.AAAA' ? 'token' : undefined);
    expect(await refuses(text)).toBe(text === 'eyJ.eyJ.AAAA' ? 'malformed' : undefined);
  });

  it('are not told by a huge token', async () => {
    const { authenticator, refuses } = setUp();
    const [small, huge] = [await token({ groups: 'x'.repeat(5_000) }), await token({ groups: 'x'.repeat(6_000) })];
    expect([small.length < 8_192, huge.length > 8_192]).toEqual([true, true]);
    expect(await authenticator.authenticate(small)).toMatchObject({ kind: 'person' });
    expect([presentedAs(huge), await refuses(huge)]).toEqual([null, undefined]);
  });

  it('are admitted within the tolerance and not a moment longer, from memory too, however the clock jumps', async () => {
    const { authenticator, refuses } = setUp({ TOOLCRIB_OIDC_CLOCK_TOLERANCE_S: '10' });
    const exp = seconds() + 100;
    const text = await token({ exp, nbf: exp - 100 });
    const at = (ms: number): void => void jest.useFakeTimers({ doNotFake: [...MONOTONIC], now: ms });
    at((exp - 111) * 1_000);
    expect(await refuses(text)).toBe('not_yet');
    at((exp - 110) * 1_000);
    await authenticator.authenticate(text);
    at((exp + 10) * 1_000 - 1);
    expect(authenticator.fromMemory(text)).not.toBeNull();
    at((exp + 10) * 1_000);
    expect(authenticator.fromMemory(text)).toBeNull();
    expect(await refuses(text)).toBe('expired');
    at((exp - 111) * 1_000);
    expect(authenticator.fromMemory(text)).toBeNull();
    at((exp + 9) * 1_000);
    expect(await authenticator.authenticate(text)).toMatchObject({ kind: 'person' });
    at((exp - 111) * 1_000);
    expect(await refuses(text)).toBe('not_yet');
  });

  it('are refused once their key is published no longer, from memory too, when the age of what is known is over', async () => {
    const { clock, authenticator, refuses, people } = setUp();
    const text = await token();
    const principal = await authenticator.authenticate(text);
    if (principal.kind === 'platform') throw new Error('not a person');
    expect(await people.isInForce(principal)).toBe(true);
    issuer.keys = [keys.next];
    clock.now += MAX_AGE_MS;
    expect(authenticator.fromMemory(text)).toBeNull();
    expect(await refuses(text)).toBe('unknown_key');
    expect(await people.isInForce(principal)).toBe(false);
    expect(await authenticator.authenticate(await token({}, { key: keys.next }))).toMatchObject({ kind: 'person' });
  });

  it('may bring a token of a key that is published since, and keep what they had', async () => {
    const { authenticator, outcomes } = setUp();
    const before = await token();
    await authenticator.authenticate(before);
    issuer.keys.push(keys.next);
    const all = await Promise.all(Array.from({ length: 20 }, async () => authenticator.authenticate(await token({}, { key: keys.next }))));
    expect([all.length, issuer.looks]).toEqual([20, 2]);
    expect(authenticator.fromMemory(before)).toBeNull();
    expect(await authenticator.authenticate(before)).toMatchObject({ kind: 'person' });
    expect((await outcomes())['accepted']).toBeGreaterThan(1);
  });

  it('make the issuer be asked once by a hundred bad tokens, and not at all by those that are wrong in themselves', async () => {
    const { authenticator } = setUp();
    await authenticator.authenticate(await token());
    const bad = await Promise.all(Array.from({ length: 100 }, (_, i) => token({ sub: `u-${i}` }, { key: { ...keys.stranger, kid: `k-${i}` } })));
    const unsigned = bad.map((text) => `${inBase64({ alg: 'none' })}.${String(text.split('.')[1])}.AAAA`);
    for (const refused of [await Promise.allSettled(bad.slice(0, 50).map((text) => authenticator.authenticate(text))), await Promise.allSettled(unsigned.map((text) => authenticator.authenticate(text)))]) {
      expect(new Set(refused.map((one) => (one.status === 'rejected' ? (one.reason as { code: string }).code : 'in')))).toEqual(new Set(['UNAUTHENTICATED']));
    }
    for (const text of bad.slice(50)) await expect(authenticator.authenticate(text)).rejects.toMatchObject(REFUSED);
    expect(issuer.looks).toBe(2);
  });

  it('go on with known keys while the issuer is away, and are told when nothing can be known', async () => {
    const { clock, authenticator, outcomes } = setUp();
    const [text, fresh] = [await token(), await token({ sub: 'user-2' })];
    await authenticator.authenticate(text);
    issuer.mode = 'failing';
    clock.now += 2 * MAX_AGE_MS;
    expect(await authenticator.authenticate(text)).toMatchObject({ keyId: 'person:user-1' });
    expect(await authenticator.authenticate(fresh)).toMatchObject({ keyId: 'person:user-2' });
    await expect(authenticator.authenticate(await token({}, { key: keys.next }))).rejects.toMatchObject({ code: 'ISSUER_UNAVAILABLE' });
    await expect(setUp().authenticator.authenticate(text)).rejects.toMatchObject({ code: 'ISSUER_UNAVAILABLE' });
    expect(await outcomes()).toEqual({ accepted: 2 });
  });

  it('are refused when their tenant is deleted: here at once, elsewhere by the next look, and admitted when it is made anew', async () => {
    const { clock, authenticator, tenants, there, refuses } = setUp();
    const text = await token();
    await authenticator.authenticate(text);
    expect(tenants.inUse()).toEqual(['acme']);
    clock.now += 599;
    expect(authenticator.fromMemory(text)).not.toBeNull();
    tenants.confirm(tenants.inUse(), new Map([['acme' as TenantId, { incarnation: 'i', revision: 1 }]]), clock.now);
    clock.now += 599;
    expect(authenticator.fromMemory(text)).not.toBeNull();
    there.delete('acme');
    tenants.confirm(tenants.inUse(), new Map(), clock.now);
    expect(await refuses(text)).toBe('no_such_tenant');
    there.add('acme');
    expect(await authenticator.authenticate(text)).toMatchObject({ tenant: 'acme' });
    there.delete('acme');
    authenticator.forgetTenant('acme' as TenantId);
    expect(await refuses(text)).toBe('no_such_tenant');
  });

  it('are nowhere in the log but by a reason', async () => {
    const { authenticator, refuses, logged } = setUp();
    const text = await token({ email: 'ada@acme.example' });
    await authenticator.authenticate(text);
    await refuses(await token({ exp: 1, email: 'ada@acme.example' }));
    expect(logged.join('')).toContain('"reason":"expired"');
    expect(logged.join('')).not.toMatch(/ada@|eyJ|user-1/u);
  });

  it('are not taken where nobody vouches for them', async () => {
    const authenticator = new Authenticator(new NoKeys(), PLATFORM_KEY, 30_000);
    const text = await token();
    await expect(authenticator.authenticate(text)).rejects.toMatchObject(REFUSED);
    expect(authenticator.fromMemory(text)).toBeNull();
    expect(issuer.looks).toBe(0);
  });
});
