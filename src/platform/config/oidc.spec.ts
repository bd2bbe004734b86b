import { describe, expect, it } from '@jest/globals';
import { ConfigError, parseConfig } from './config.js';
import type { OidcConfig } from './oidc.js';

const LEAST = { TOOLCRIB_OIDC_ISSUER: 'https://issuer.example/realms/ops', TOOLCRIB_OIDC_AUDIENCE: 'toolcrib' };

const read = (more: Record<string, string> = {}): OidcConfig | null => parseConfig({ ...LEAST, ...more }).oidc;

const mistakes = (environment: Record<string, string>): readonly string[] => {
  try {
    parseConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
};

describe('the configuration of an issuer', () => {
  it('needs the issuer and the audience alone', () => {
    expect(read()).toEqual({
      issuer: 'https://issuer.example/realms/ops', audience: 'toolcrib', jwksUri: null, tenantClaim: ['tenant'], scopeClaim: ['scope'], nameClaim: ['email'],
      scopeMap: new Map([['toolcrib:decide', ['decide']], ['toolcrib:sync', ['sync']], ['toolcrib:governance:read', ['governance:read']], ['toolcrib:governance:write', ['governance:write']], ['toolcrib:admin', ['admin']]]),
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'], clockToleranceS: 30, keysMaxAgeS: 300,
    });
  });

  it('takes names of claims as they are, and paths that begin with a slash', () => {
    for (const [text, path] of [['https://acme.example/tenant', ['https://acme.example/tenant']], ['a.b', ['a.b']], ['/resource_access/toolcrib/roles', ['resource_access', 'toolcrib', 'roles']], ['/a~1b/c~0d~01', ['a/b', 'c~d~1']], ['/', ['']]] as const) {
      expect({ text, path: read({ TOOLCRIB_OIDC_SCOPE_CLAIM: text })?.scopeClaim }).toEqual({ text, path });
    }
    expect(mistakes({ ...LEAST, TOOLCRIB_OIDC_TENANT_CLAIM: '/a~2b' })).toEqual(['TOOLCRIB_OIDC_TENANT_CLAIM must be the name of a claim, or a JSON Pointer to a nested one, which begins with `/`']);
  });

  it('is a mistake when it is half there', () => {
    expect(mistakes({ TOOLCRIB_OIDC_ISSUER: 'https://issuer.example' })).toEqual(['TOOLCRIB_OIDC_AUDIENCE is required with TOOLCRIB_OIDC_ISSUER']);
    expect(mistakes({ TOOLCRIB_OIDC_AUDIENCE: 'a' })).toEqual(['TOOLCRIB_OIDC_ISSUER is required with TOOLCRIB_OIDC_AUDIENCE']);
    expect(mistakes({ TOOLCRIB_OIDC_SCOPE_MAP: '{"a": ["decide"]}' })).toEqual(['TOOLCRIB_OIDC_ISSUER is required with TOOLCRIB_OIDC_SCOPE_MAP', 'TOOLCRIB_OIDC_AUDIENCE is required with TOOLCRIB_OIDC_SCOPE_MAP']);
  });

  it.each(['http://issuer.example', 'http://127.0.0.1.example', 'ftp://issuer.example', 'issuer.example', 'https://u:p@issuer.example', 'https://issuer.example?a=b', 'https://issuer.example#a'])('trusts no issuer at %s', (issuer) => {
    expect(mistakes({ ...LEAST, TOOLCRIB_OIDC_ISSUER: issuer })).toEqual(['TOOLCRIB_OIDC_ISSUER must be an https:// address without query and fragment (http:// on this very machine alone)']);
  });

  it('takes keys from an address with a query, and from this machine without TLS', () => {
    expect(read({ TOOLCRIB_OIDC_JWKS_URI: 'https://issuer.example/keys?p=b2c' })?.jwksUri).toBe('https://issuer.example/keys?p=b2c');
    for (const host of ['localhost', '127.0.0.1', '[::1]']) expect(read({ TOOLCRIB_OIDC_ISSUER: `http://${host}:8080` })).not.toBeNull();
    expect(mistakes({ ...LEAST, TOOLCRIB_OIDC_JWKS_URI: 'http://keycloak:8080/keys' })).toEqual(['TOOLCRIB_OIDC_JWKS_URI must be an https:// address (http:// on this very machine alone)']);
  });

  it.each(['none', 'HS256', 'RS256,HS512', 'RS256,', 'rs256', 'RSA-OAEP'])('never allows the algorithms %s', (names) => {
    expect(mistakes({ ...LEAST, TOOLCRIB_OIDC_ALGORITHMS: names })).toEqual([expect.stringMatching(/^TOOLCRIB_OIDC_ALGORITHMS must be a list/u)]);
  });

  it.each(['x', '[]', '{}', 'null', '{"a": "decide"}', '{"a": []}', '{"a": ["all"]}', '{"a": ["platform"]}', '{"": ["decide"]}', '{"a": ["decide", 1]}'])('takes no map of scopes such as %s', (map) => {
    const told = mistakes({ ...LEAST, TOOLCRIB_OIDC_SCOPE_MAP: map });
    expect(told).toEqual(['TOOLCRIB_OIDC_SCOPE_MAP must be a JSON object from values of the scope claim to lists of decide, sync, governance:read, governance:write, admin']);
  });

  it('grants with a map what the map says and nothing else', () => {
    expect(read({ TOOLCRIB_OIDC_SCOPE_MAP: '{"tool-ops": ["governance:write", "sync"], "__proto__": ["decide"]}' })?.scopeMap).toEqual(new Map([['tool-ops', ['governance:write', 'sync']], ['__proto__', ['decide']]]));
  });

  it('bounds its times, and knows no other names', () => {
    expect(mistakes({ ...LEAST, TOOLCRIB_OIDC_CLOCK_TOLERANCE_S: '301', TOOLCRIB_OIDC_JWKS_MAX_AGE_S: '0', TOOLCRIB_OIDC_TENANT: 'x' })).toEqual([
      'TOOLCRIB_OIDC_CLOCK_TOLERANCE_S must be a whole number from 0 to 300', 'TOOLCRIB_OIDC_JWKS_MAX_AGE_S must be a whole number from 1 to 86400', 'TOOLCRIB_OIDC_TENANT is not a known setting',
    ]);
  });
});
