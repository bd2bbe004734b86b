import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../platform/config/config.js';
import type { OidcConfig } from '../platform/config/oidc.js';
import { personIn } from './claims.js';
import { SCOPES } from './scope.js';

const configured = (more: Record<string, string> = {}): OidcConfig => {
  const { oidc } = parseConfig({ TOOLCRIB_OIDC_ISSUER: 'https://issuer.example', TOOLCRIB_OIDC_AUDIENCE: 'a', ...more });
  if (oidc === null) throw new Error('not configured');
  return oidc;
};

const CLAIMS = { sub: 'u-1', tenant: 'acme' };

describe('the claims of a token', () => {
  it('say who, for which tenant, and what for', () => {
    expect(personIn({ ...CLAIMS, email: 'ada@acme.example', scope: 'openid toolcrib:decide toolcrib:governance:write' }, configured())).toEqual({
      kind: 'person', tenant: 'acme', keyId: 'person:u-1', keyName: 'ada@acme.example', scopes: new Set(['decide', 'governance:write', 'governance:read']),
    });
  });

  it('grant each scope by its own name, as text and in a list', () => {
    for (const scope of SCOPES) {
      for (const value of [`toolcrib:${scope}`, [`toolcrib:${scope}`]]) expect(personIn({ ...CLAIMS, scope: value }, configured()).scopes).toContain(scope);
    }
    expect(personIn({ ...CLAIMS, scope: 'toolcrib:admin' }, configured()).scopes).toEqual(new Set(SCOPES));
  });

  it.each([
    undefined, null, '', 7, true, {}, { 'toolcrib:admin': true }, 'admin', 'decide', 'Toolcrib:admin', 'toolcrib:admin,toolcrib:decide', 'toolcrib:', 'toolcrib:platform', ['admin', 7, null, ['toolcrib:admin']], '__proto__ constructor',
  ])('grant nothing by %j', (scope) => {
    expect(personIn({ ...CLAIMS, scope }, configured()).scopes).toEqual(new Set());
  });

  it('grant by a map what it says, from wherever the claim lies', () => {
    const config = configured({ TOOLCRIB_OIDC_SCOPE_CLAIM: '/resource_access/toolcrib/roles', TOOLCRIB_OIDC_SCOPE_MAP: '{"tool ops": ["governance:write"], "runtime": ["decide"]}' });
    const withRoles = (roles: unknown): unknown => personIn({ ...CLAIMS, scope: 'toolcrib:admin', resource_access: { toolcrib: { roles } } }, config).scopes;
    expect(withRoles(['tool ops', 'viewer'])).toEqual(new Set(['governance:write', 'governance:read']));
    expect(withRoles('runtime viewer')).toEqual(new Set(['decide']));
    expect(withRoles(['toolcrib:admin', 'constructor'])).toEqual(new Set());
    expect(personIn({ ...CLAIMS, resource_access: [] }, config).scopes).toEqual(new Set());
  });

  it.each([undefined, null, '', 7, [], ['acme', 'other'], [7], { acme: true }, 'not a name', '../acme', '*', 'a'.repeat(64)])('name no tenant by %j', (tenant) => {
    expect(() => personIn({ ...CLAIMS, tenant }, configured())).toThrow(expect.objectContaining({ reason: 'tenant_claim' }));
  });

  it('name a tenant by text or a list of one, by an address or a path', () => {
    expect(personIn({ ...CLAIMS, tenant: ['acme'] }, configured()).tenant).toBe('acme');
    const address = configured({ TOOLCRIB_OIDC_TENANT_CLAIM: 'https://toolcrib.example/tenant' });
    expect(personIn({ sub: 'u', 'https://toolcrib.example/tenant': 'b' }, address).tenant).toBe('b');
    const path = configured({ TOOLCRIB_OIDC_TENANT_CLAIM: '/org/id' });
    expect(personIn({ sub: 'u', org: { id: 'c' } }, path).tenant).toBe('c');
    const inherited = configured({ TOOLCRIB_OIDC_TENANT_CLAIM: '/constructor/name' });
    expect(() => personIn({ sub: 'u' }, inherited)).toThrow('tenant_claim');
  });

  it.each([undefined, null, 7, '', 'a'.repeat(256), 'a\0b', 'a\nb', '\ud800'])('name nobody by %j', (sub) => {
    expect(() => personIn({ ...CLAIMS, sub }, configured())).toThrow(expect.objectContaining({ reason: 'subject' }));
  });

  it.each([undefined, 7, '', '  ', 'a'.repeat(201), 'a\nb', 'ada\u202e', '\udc00'])('call a person by the subject, when the name is %j', (email) => {
    expect(personIn({ ...CLAIMS, email }, configured()).keyName).toBe('u-1');
  });

  it('call nobody by an address of mail that is not proven', () => {
    expect(personIn({ ...CLAIMS, email: 'ceo@acme.example', email_verified: false }, configured()).keyName).toBe('u-1');
    expect(personIn({ ...CLAIMS, email: 'ceo@acme.example', email_verified: true }, configured()).keyName).toBe('ceo@acme.example');
    expect(personIn({ ...CLAIMS, name: 'Ada', email_verified: false }, configured({ TOOLCRIB_OIDC_NAME_CLAIM: 'name' })).keyName).toBe('Ada');
  });
});
