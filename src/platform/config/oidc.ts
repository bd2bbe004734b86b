import { SCOPES } from '../../tenancy/scope.js';
import type { Scope } from '../../tenancy/scope.js';

/** Where a claim lies: the names to go through, from the outside in. */
export type ClaimPath = readonly string[];

/** Whose tokens are taken for people, and what of a token says which tenant and scopes they have. */
export interface OidcConfig {
  /** Exactly as its tokens say it in `iss`. */
  readonly issuer: string;
  readonly audience: string;
  /** Null: the issuer's discovery document names it. */
  readonly jwksUri: string | null;
  readonly tenantClaim: ClaimPath;
  readonly scopeClaim: ClaimPath;
  readonly nameClaim: ClaimPath;
  /** What each value of the scope claim grants; one that is not here grants nothing. */
  readonly scopeMap: ReadonlyMap<string, readonly Scope[]>;
  readonly algorithms: readonly string[];
  readonly clockToleranceS: number;
  /** How old what is known of the issuer's keys may be while the issuer can be asked. */
  readonly keysMaxAgeS: number;
}

const ISSUER = 'TOOLCRIB_OIDC_ISSUER';
const AUDIENCE = 'TOOLCRIB_OIDC_AUDIENCE';
const JWKS_URI = 'TOOLCRIB_OIDC_JWKS_URI';
const TENANT_CLAIM = 'TOOLCRIB_OIDC_TENANT_CLAIM';
const SCOPE_CLAIM = 'TOOLCRIB_OIDC_SCOPE_CLAIM';
const SCOPE_MAP = 'TOOLCRIB_OIDC_SCOPE_MAP';
const NAME_CLAIM = 'TOOLCRIB_OIDC_NAME_CLAIM';
const ALGORITHMS = 'TOOLCRIB_OIDC_ALGORITHMS';
const CLOCK_TOLERANCE = 'TOOLCRIB_OIDC_CLOCK_TOLERANCE_S';
const KEYS_MAX_AGE = 'TOOLCRIB_OIDC_JWKS_MAX_AGE_S';

export const OIDC_NAMES = [ISSUER, AUDIENCE, JWKS_URI, TENANT_CLAIM, SCOPE_CLAIM, SCOPE_MAP, NAME_CLAIM, ALGORITHMS, CLOCK_TOLERANCE, KEYS_MAX_AGE] as const;

/** Only those where who can check a signature can not make one: never `none`, never a shared secret. */
const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;
const USUAL_ALGORITHMS = 'RS256,PS256,ES256,EdDSA';

/** What values of the scope claim grant when no map says otherwise: `toolcrib:decide` grants `decide`, and so on. */
const OWN_NAMES: ReadonlyMap<string, readonly Scope[]> = new Map(SCOPES.map((scope) => [`toolcrib:${scope}`, [scope]]));

const THIS_MACHINE = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether what is read there is what its owner sent: whoever could change it could make himself anybody. */
export function isTrustworthyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  return username === '' && password === '' && hash === '' && (protocol === 'https:' || (protocol === 'http:' && THIS_MACHINE.has(hostname)));
}

/** How `parseConfig` reads the environment. */
export interface EnvironmentReader {
  readonly read: (name: string) => string | null;
  readonly integer: (name: string, fallback: number, min: number, max: number) => number;
  readonly mistakes: string[];
}

/** Null where nothing of it is set. Half of it is a mistake. */
export function readOidc({ read, integer, mistakes }: EnvironmentReader): OidcConfig | null {
  const [given] = OIDC_NAMES.filter((name) => read(name) !== null);
  if (given === undefined) return null;
  const required = (name: string): string => {
    const text = read(name);
    if (text === null) mistakes.push(`${name} is required with ${given}`);
    return text ?? '';
  };
  const parsed = <T>(name: string, fallback: string, parse: (text: string) => T | null, rule: string): T | null => {
    const value = parse(read(name) ?? fallback);
    if (value === null) mistakes.push(`${name} must be ${rule}`);
    return value;
  };
  const claim = (name: string, fallback: string): ClaimPath => parsed(name, fallback, claimPath, 'the name of a claim, or a JSON Pointer to a nested one, which begins with `/`') ?? [];
  const [issuer, audience, jwksUri] = [required(ISSUER), required(AUDIENCE), read(JWKS_URI)];
  if (issuer !== '' && (!isTrustworthyUrl(issuer) || issuer.includes('?'))) mistakes.push(`${ISSUER} must be an https:// address without query and fragment (http:// on this very machine alone)`);
  if (jwksUri !== null && !isTrustworthyUrl(jwksUri)) mistakes.push(`${JWKS_URI} must be an https:// address (http:// on this very machine alone)`);
  return {
    issuer,
    audience,
    jwksUri,
    tenantClaim: claim(TENANT_CLAIM, 'tenant'),
    scopeClaim: claim(SCOPE_CLAIM, 'scope'),
    nameClaim: claim(NAME_CLAIM, 'email'),
    scopeMap: read(SCOPE_MAP) === null ? OWN_NAMES : (parsed(SCOPE_MAP, '', scopeMap, `a JSON object from values of the scope claim to lists of ${SCOPES.join(', ')}`) ?? OWN_NAMES),
    algorithms: parsed(ALGORITHMS, USUAL_ALGORITHMS, algorithms, `a list, with commas, of some of ${ASYMMETRIC.join(', ')}`) ?? [],
    clockToleranceS: integer(CLOCK_TOLERANCE, 30, 0, 300),
    keysMaxAgeS: integer(KEYS_MAX_AGE, 300, 1, 86_400),
  };
}

/** Names of claims are often addresses, full of dots and slashes, so only what begins with `/` is a path. */
function claimPath(text: string): ClaimPath | null {
  if (!text.startsWith('/')) return [text];
  if (/~(?![01])/u.test(text)) return null;
  return text.slice(1).split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function algorithms(text: string): readonly string[] | null {
  const named = text.split(',').map((name) => name.trim());
  return named.every((name) => ASYMMETRIC.some((known) => known === name)) ? named : null;
}

function scopeMap(text: string): ReadonlyMap<string, readonly Scope[]> | null {
  const entries = entriesIn(text);
  const isMap = entries !== null && entries.length > 0 && entries.every(([value, scopes]) => value !== '' && isScopes(scopes));
  return isMap ? new Map(entries as [string, Scope[]][]) : null;
}

function entriesIn(text: string): [string, unknown][] | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : null;
  } catch {
    return null;
  }
}

const isScopes = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every((name) => SCOPES.some((scope) => scope === name));
