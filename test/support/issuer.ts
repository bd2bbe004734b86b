import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CryptoKey, JWK, JWTPayload } from 'jose';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';

export const AUDIENCE = 'https://toolcrib.test';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function newSigningKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export interface TokenOptions {
  readonly key?: SigningKey;
  /** Members of the header to add, or to leave out where they are undefined. */
  readonly header?: Record<string, unknown>;
}

const now = (): number => Math.floor(Date.now() / 1_000);

/** An issuer of tokens on this machine, which can be made to misbehave. */
export class LocalIssuer {
  /** What is published. */
  keys: SigningKey[] = [];
  /** Answers to questions for keys; of the others it counts none. */
  looks = 0;
  discoveries = 0;
  /** `hung` takes the question and never answers. */
  mode: 'well' | 'hung' | 'failing' | 'garbage' | 'huge' = 'well';
  /** Instead of its own discovery document. */
  discovery: unknown;
  private server: Server | null = null;
  private port = 0;

  static async start(...keys: SigningKey[]): Promise<LocalIssuer> {
    const issuer = new LocalIssuer();
    issuer.keys = keys;
    await issuer.listen();
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** At the address that it had before, if any. */
  async listen(): Promise<void> {
    this.server = createServer((request, response) => this.answer(request, response)).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Nothing listens there any more. */
  async close(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (server === null) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  /** Of a person of the tenant, for five minutes; a claim that is undefined is left out. */
  token(claims: JWTPayload, { key = this.keys[0], header = {} }: TokenOptions = {}): Promise<string> {
    if (key === undefined) throw new Error('the issuer has no key');
    const all = { iss: this.url, aud: AUDIENCE, sub: 'user-1', iat: now(), exp: now() + 300, ...claims };
    return new SignJWT(JSON.parse(JSON.stringify(all)) as JWTPayload).setProtectedHeader(JSON.parse(JSON.stringify({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })) as { alg: string }).sign(key.privateKey);
  }

  /** The settings of a service that takes its tokens. */
  get environment(): Record<string, string> {
    return { TOOLCRIB_OIDC_ISSUER: this.url, TOOLCRIB_OIDC_AUDIENCE: AUDIENCE };
  }

  private get discovered(): unknown {
    return this.discovery === undefined ? { issuer: this.url, jwks_uri: `${this.url}/keys` } : this.discovery;
  }

  private answer({ url }: IncomingMessage, response: ServerResponse): void {
    const isDiscovery = url === '/.well-known/openid-configuration';
    if (isDiscovery) this.discoveries += 1;
    else this.looks += 1;
    const body = isDiscovery ? this.discovered : { keys: this.keys.map(({ jwk }) => jwk) };
    switch (this.mode) {
      case 'hung':
        return;
      case 'failing':
        return void response.writeHead(500).end('no');
      case 'garbage':
        return void response.writeHead(200).end(isDiscovery ? JSON.stringify(body) : '{"keys": [7, null, "x"]}');
      case 'huge':
        return void response.writeHead(200).end(isDiscovery ? JSON.stringify(body) : JSON.stringify({ keys: [], more: 'x'.repeat(2 ** 20) }));
      case 'well':
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
  }
}
