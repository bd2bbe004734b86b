import { isObject } from '../core/json.js';
import type { ClaimPath, OidcConfig } from '../platform/config/oidc.js';
import type { TenantId } from '../platform/tenant-id.js';
import { tenantId } from '../platform/tenant-id.js';
import { personId } from '../core/history.js';
import type { TenantPrincipal } from './authenticator.js';
import type { Scope } from './scope.js';
import { impliedScopes } from './scope.js';

/** Why a token is refused; the caller is not told, the operator is. */
export type RefusalReason = 'malformed' | 'algorithm' | 'unknown_key' | 'signature' | 'expired' | 'not_yet' | 'issuer' | 'audience' | 'type' | 'bound' | 'subject' | 'tenant_claim' | 'no_such_tenant';

/** A token that is not taken. */
export class TokenRefused extends Error {
  constructor(readonly reason: RefusalReason) {
    super(reason);
  }
}

type Claims = Readonly<Record<string, unknown>>;

/** OpenID Connect has `sub` no longer than this. */
const MAX_SUBJECT = 255;
const MAX_NAME = 200;
/** No control characters and no half of a surrogate pair, which could not be stored. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]+$/u;
/** Nor any that are not seen, such as those that turn the direction of writing: people read it. */
const NAME = /^(?=.*\S)[^\p{Cc}\p{Cs}\p{Cf}]+$/u;

/** The person of a token whose signature, issuer, audience and times are right. Throws {@link TokenRefused} where it does not say who or where. */
export function personIn(claims: Claims, config: OidcConfig): TenantPrincipal {
  const subject = claims['sub'];
  if (typeof subject !== 'string' || subject.length > MAX_SUBJECT || !SUBJECT.test(subject)) throw new TokenRefused('subject');
  return {
    kind: 'person',
    tenant: tenantIn(claims, config),
    keyId: personId(subject),
    keyName: nameIn(claims, config.nameClaim) ?? subject,
    scopes: scopesIn(claims, config),
  };
}

/** One tenant: a string, or a list of exactly one, as some issuers write every mapped claim. */
function tenantIn(claims: Claims, { tenantClaim }: OidcConfig): TenantId {
  const value = claimAt(claims, tenantClaim);
  const named: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const tenant = typeof named === 'string' ? tenantId(named) : null;
  if (tenant === null) throw new TokenRefused('tenant_claim');
  return tenant;
}

function scopesIn(claims: Claims, { scopeClaim, scopeMap }: OidcConfig): ReadonlySet<Scope> {
  const value = claimAt(claims, scopeClaim);
  const values: readonly unknown[] = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : [];
  return impliedScopes(values.flatMap((one) => (typeof one === 'string' ? (scopeMap.get(one) ?? []) : [])));
}

/** Null where there is none that could be shown, and for an address of mail that the issuer says is not proven: anybody can claim one. */
function nameIn(claims: Claims, path: ClaimPath): string | null {
  const name = claimAt(claims, path);
  if (typeof name !== 'string' || name.length > MAX_NAME || !NAME.test(name)) return null;
  return path.length === 1 && path[0] === 'email' && claims['email_verified'] === false ? null : name;
}

/** What lies there, never what objects inherit. */
function claimAt(claims: Claims, path: ClaimPath): unknown {
  let value: unknown = claims;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}
