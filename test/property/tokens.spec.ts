import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseConfig } from '../../src/platform/config/config.js';
import { createLogger } from '../../src/platform/observability/logger.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import type { PresentedToken } from '../../src/tenancy/token.js';
import { parseToken } from '../../src/tenancy/token.js';
import { Issuer } from '../../src/tenancy/issuer.js';
import { KnownTenants } from '../../src/tenancy/known-tenants.js';
import { People } from '../../src/tenancy/people.js';
import { SigningKeys } from '../../src/tenancy/signing-keys.js';
import { mintKey } from '../../src/tenancy/api-key.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import { LocalIssuer, newSigningKey } from '../support/issuer.js';

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.');

/** A change of a text: some letters replaced, left out or put in, or two parts of it exchanged. */
const mutation = fc.oneof(
  fc.record({ at: fc.nat(), letter: fc.constantFrom(...LETTERS) }).map(({ at, letter }) => (text: string) => replaced(text, at % text.length, 1, letter)),
  fc.record({ at: fc.nat(), length: fc.integer({ min: 1, max: 8 }) }).map(({ at, length }) => (text: string) => replaced(text, at % text.length, length, '')),
  fc.record({ at: fc.nat(), letters: fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 8 }) }).map(({ at, letters }) => (text: string) => replaced(text, at % (text.length + 1), 0, letters)),
  fc.record({ at: fc.nat(), bit: fc.integer({ min: 0, max: 7 }) }).map(({ at, bit }) => (text: string) => flipped(text, at, bit)),
);

const replaced = (text: string, at: number, length: number, by: string): string => text.slice(0, at) + by + text.slice(at + length);

/** One bit of what the text says, in one of its three parts. */
function flipped(text: string, at: number, bit: number): string {
  const parts = text.split('.').map((part) => Buffer.from(part, 'base64url'));
  const part = parts[at % 3];
  const place = Math.floor(at / 3) % (part?.length || 1);
  if (part !== undefined) part[place] = (part[place] ?? 0) ^ (1 << bit);
  return parts.map((bytes) => bytes.toString('base64url')).join('.');
}

describe('tokens', () => {
  let issuer: LocalIssuer;
  let people: People;
  const tokens: string[] = [];
  beforeAll(async () => {
    const keys = [await newSigningKey('a', 'ES256'), await newSigningKey('b', 'RS256'), await newSigningKey('c', 'EdDSA')];
    issuer = await LocalIssuer.start(...keys);
    const { oidc } = parseConfig(issuer.environment);
    if (oidc === null) throw new Error('not configured');
    const [metrics, logger] = [new Metrics(), createLogger('silent')];
    people = new People(oidc, new SigningKeys(new Issuer(oidc), { maxAgeMs: 300_000, metrics, logger }), new KnownTenants({ exists: () => Promise.resolve(true) }, 30_000), metrics, logger);
    for (const key of keys) tokens.push(await issuer.token({ tenant: 'acme', scope: 'toolcrib:decide' }, { key }));
  });
  afterAll(() => issuer.close());

  const isAdmitted = async (token: PresentedToken | null): Promise<boolean> =>
    token !== null && people.authenticate(token).then(() => true, (error: unknown) => {
      expect(error).toMatchObject({ code: 'UNAUTHENTICATED' });
      return false;
    });

  it('INVARIANT (tokens): admit nobody once any of their bytes are changed', async () => {
    for (const text of tokens) expect(await isAdmitted(parseToken(text))).toBe(true);
    await fc.assert(fc.asyncProperty(fc.nat({ max: 2 }), fc.array(mutation, { minLength: 1, maxLength: 3 }), async (which, changes) => {
      const text = tokens[which] ?? '';
      const changed = changes.reduce((last, change) => change(last), text);
      fc.pre(changed !== text);
      const token = parseToken(changed);
      expect(token && people.recognise(token)).toBeNull();
      expect(await isAdmitted(token)).toBe(false);
    }), { numRuns: 3_000 });
  });

  it('INVARIANT (tokens): admit nobody by another text that says the same, at any last letter of any part', async () => {
    for (const text of tokens) {
      const ends = Array.from(text).flatMap((_, at) => (at + 1 === text.length || text[at + 1] === '.' ? [at] : []));
      for (const at of ends) for (const letter of LETTERS) if (letter !== text[at]) expect(await isAdmitted(parseToken(replaced(text, at, 1, letter)))).toBe(false);
    }
  });

  it('are told from keys by their shape, and no text is both', () => {
    for (const tenant of ['acme', 'ey', 'eyJ', 'a_b-c']) expect(parseToken(mintKey(tenant as TenantId).text)).toBeNull();
  });
});
