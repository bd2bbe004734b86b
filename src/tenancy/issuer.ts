import type { JSONWebKeySet, JWK } from 'jose';
import { createLocalJWKSet } from 'jose';
import { byText, equalJson, isObject } from '../core/json.js';
import type { OidcConfig } from '../platform/config/oidc.js';
import { isTrustworthyUrl } from '../platform/config/oidc.js';

/** The public keys of an issuer as it published them; the same object for as long as it publishes the same. */
export interface KeySet {
  /** In an order of its own: an issuer may publish the same keys in another one at every look. */
  readonly published: readonly JWK[];
  /** The key that a token's header asks for. Throws where there is none, or not exactly one. */
  readonly find: ReturnType<typeof createLocalJWKSet>;
}

/** All requests of one look together: an issuer that hangs is one that fails. */
const TIMEOUT_MS = 2_000;
/** Whatever an issuer sends, it does not fill the memory. Real ones send some thousand bytes. */
const MAX_BYTES = 512 * 1024;

/** Asks an issuer for its keys. */
export class Issuer {
  constructor(
    private readonly config: Pick<OidcConfig, 'issuer' | 'jwksUri'>,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  /** Throws where it does not answer in time, or not with a set of keys. */
  async keys(before: KeySet | null): Promise<KeySet> {
    const signal = AbortSignal.timeout(this.timeoutMs);
    const text = await textAt(this.config.jwksUri ?? (await this.discover(signal)), signal);
    const set = JSON.parse(text) as JSONWebKeySet;
    const find = createLocalJWKSet(set);
    const published = [...set.keys].sort((a, b) => byText(JSON.stringify([a.kid, a.use, a.alg]), JSON.stringify([b.kid, b.use, b.alg])));
    return before !== null && equalJson(before.published, published) ? before : { published, find };
  }

  /** OpenID Connect Discovery: the document must be the issuer's own. */
  private async discover(signal: AbortSignal): Promise<string> {
    const { issuer } = this.config;
    const found: unknown = JSON.parse(await textAt(`${issuer.replace(/\/$/u, '')}/.well-known/openid-configuration`, signal));
    if (!isObject(found) || found['issuer'] !== issuer) throw new Error('the discovery document names another issuer');
    const uri = found['jwks_uri'];
    if (typeof uri !== 'string' || !isTrustworthyUrl(uri)) throw new Error('the discovery document names no `jwks_uri` that could be trusted');
    return uri;
  }
}

/** Redirects are not followed: what is trusted is this address. */
async function textAt(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`the issuer answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('the issuer sends too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
