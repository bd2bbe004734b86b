import type { OnApplicationBootstrap } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import type { JWTVerifyGetKey, JWTVerifyResult } from 'jose';
import { LRUCache } from 'lru-cache';
import type { OidcConfig } from '../platform/config/oidc.js';
import { AppError, invalidCredential } from '../platform/errors/app-error.js';
import type { Logger } from '../platform/observability/logger.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { TenantPrincipal } from './authenticator.js';
import type { RefusalReason } from './claims.js';
import { TokenRefused, personIn } from './claims.js';
import type { KeySet } from './issuer.js';
import type { KnownTenants } from './known-tenants.js';
import type { SigningKeys } from './signing-keys.js';
import type { PresentedToken } from './token.js';

/** A token that was found right, and for how long that stands. */
interface Verified {
  readonly principal: TenantPrincipal;
  /** Milliseconds since the epoch, by the wall clock, as tokens are told: from the first, up to the second. */
  readonly from: number;
  readonly until: number;
  /** Those that its key was among: with others it is verified again. */
  readonly keys: KeySet;
}

const MAX_TOKENS = 10_000;
/** A token of another kind (of logout, of an event) may bear the same signature and be no permission. */
const TYPES = new Set(['jwt', 'at+jwt', 'application/at+jwt']);

const REASONS: Readonly<Record<string, RefusalReason>> = {
  [errors.JOSEAlgNotAllowed.code]: 'algorithm',
  [errors.JWKSNoMatchingKey.code]: 'unknown_key',
  [errors.JWKSMultipleMatchingKeys.code]: 'unknown_key',
  [errors.JWSSignatureVerificationFailed.code]: 'signature',
  [errors.JWTExpired.code]: 'expired',
};
const REASONS_BY_CLAIM: Readonly<Record<string, RefusalReason>> = { iss: 'issuer', aud: 'audience', exp: 'expired', nbf: 'not_yet', sub: 'subject' };

/**
 * Tells who a token speaks for. A signature is checked once and remembered by the digest of the whole token.
 *
 * INVARIANT (tokens): nobody is admitted by a token but within its own time, while the key that signed it is among those that
 * the issuer published last and the tenant that it names is there.
 */
export class People implements OnApplicationBootstrap {
  private readonly verified = new LRUCache<string, Verified>({ max: MAX_TOKENS });
  private readonly byPrincipal = new WeakMap<TenantPrincipal, Verified>();

  constructor(
    private readonly config: OidcConfig,
    private readonly keys: SigningKeys,
    private readonly tenants: KnownTenants,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** So that the first token need not wait, and the log says at once when the issuer can not be reached. It holds up nothing. */
  onApplicationBootstrap(): void {
    this.keys.current().catch(() => undefined);
  }

  /** Null when something must be asked first: then {@link authenticate} does. No signature is checked here. */
  recognise({ digest }: PresentedToken): TenantPrincipal | null {
    const known = this.verified.get(digest);
    return known !== undefined && isInTime(known) && known.keys === this.keys.hot() && this.tenants.has(known.principal.tenant) ? known.principal : null;
  }

  /** Throws `UNAUTHENTICATED` for anything but a token in force, `ISSUER_UNAVAILABLE` where that can not be told. */
  async authenticate(token: PresentedToken): Promise<TenantPrincipal> {
    try {
      const { principal } = await this.verifiedOf(token);
      if (!(await this.tenants.exists(principal.tenant))) throw new TokenRefused('no_such_tenant');
      return principal;
    } catch (error) {
      if (error instanceof AppError) throw error;
      const reason = reasonOf(error);
      this.metrics.tokenVerifications.inc({ outcome: reason });
      this.logger.debug({ reason }, 'a token is refused');
      throw invalidCredential();
    }
  }

  /** Whether a person who was admitted would be admitted still, by the token of then. */
  async isInForce(principal: TenantPrincipal): Promise<boolean> {
    const known = this.byPrincipal.get(principal);
    return known !== undefined && isInTime(known) && known.keys === (await this.keys.current());
  }

  forgetTenant(tenant: TenantId): void {
    this.tenants.forget(tenant);
  }

  private async verifiedOf({ text, digest }: PresentedToken): Promise<Verified> {
    const keys = await this.keys.current();
    const known = this.verified.get(digest);
    if (known !== undefined && isInTime(known) && known.keys === keys) return known;
    this.verified.delete(digest);
    const verified = await this.verify(text, keys);
    this.verified.set(digest, verified);
    this.byPrincipal.set(verified.principal, verified);
    this.metrics.tokenVerifications.inc({ outcome: 'accepted' });
    return verified;
  }

  private async verify(text: string, known: KeySet): Promise<Verified> {
    const { issuer, audience, algorithms, clockToleranceS } = this.config;
    let keys = known;
    const find: JWTVerifyGetKey = async (...asked) => {
      try {
        return await keys.find(...asked);
      } catch (error) {
        const newer = error instanceof errors.JWKSNoMatchingKey ? await this.keys.hunt() : null;
        if (newer === null) throw error;
        keys = newer;
        return keys.find(...asked);
      }
    };
    const token = await jwtVerify(text, find, { issuer, audience, algorithms: [...algorithms], clockTolerance: clockToleranceS, requiredClaims: ['exp', 'sub'] });
    requirePlainAccess(token);
    const { exp = 0, nbf = -Infinity } = token.payload;
    const verified = { principal: personIn(token.payload, this.config), from: (nbf - clockToleranceS) * 1_000, until: (exp + clockToleranceS) * 1_000, keys };
    if (!isInTime(verified)) throw new TokenRefused('expired');
    return verified;
  }
}

function isInTime({ from, until }: Verified): boolean {
  const now = Date.now();
  return from <= now && now < until;
}

function requirePlainAccess({ protectedHeader: { typ = 'JWT' }, payload }: JWTVerifyResult): void {
  if (typeof typ !== 'string' || !TYPES.has(typ.toLowerCase())) throw new TokenRefused('type');
  // Bound to a key of its holder (DPoP, mTLS), whose proof is not asked for here: taken as it is, it would be worth less than its issuer means.
  if (payload['cnf'] !== undefined) throw new TokenRefused('bound');
}

/** Whatever else went wrong with a token, it is none that could be read. */
function reasonOf(error: unknown): RefusalReason {
  if (error instanceof TokenRefused) return error.reason;
  if (error instanceof errors.JWTClaimValidationFailed) return REASONS_BY_CLAIM[error.claim] ?? 'malformed';
  return error instanceof errors.JOSEError ? (REASONS[error.code] ?? 'malformed') : 'malformed';
}
