import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AppError, tenantNotFound } from '../platform/errors/app-error.js';
import { ACCESS_RULE } from '../platform/http/public.decorator.js';
import type { TenantId } from '../platform/tenant-id.js';
import { tenantId } from '../platform/tenant-id.js';
import type { AccessRule } from './access.js';
import type { Authenticator, Presented, Principal, TenantPrincipal } from './authenticator.js';
import { presentedAs } from './authenticator.js';
import type { RateLimits } from './rate-limits.js';
import { rateHeaders, tooManyRequests } from './rate-limits.js';
import type { TenantStore } from './tenant.store.js';

const BEARER = /^Bearer +(\S+) *$/iu;

/** The key of a request, from either header, or its token. */
export function presentedKey({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  if (headers.authorization !== undefined) return BEARER.exec(headers.authorization)?.[1] ?? null;
  const key = headers['x-api-key'];
  return typeof key === 'string' && key !== '' ? key : null;
}

export const unauthenticated = (): AppError => new AppError('UNAUTHENTICATED', 'send a key as `Authorization: Bearer KEY` or `X-API-Key: KEY`, or a token as `Authorization: Bearer TOKEN` where people have them');

/** What of a request says who asks, and takes up who it is. */
type Admitted = Pick<FastifyRequest, 'headers' | 'principal' | 'caller' | 'tenant' | 'standing'>;

/** Who asks before there is a request of the framework. */
export interface Knock {
  readonly headers: FastifyRequest['headers'];
  /** The same object as long as the connection lasts. */
  readonly connection: object;
}

export interface Admission {
  readonly caller: {
    readonly tenant: TenantId;
    /** Of a person: `person:` and who it is. */
    readonly keyId: string;
  };
  /** Who is admitted may still ask too often. */
  readonly refusal: AppError | null;
}

/** Every route passes here; one that says nothing of its access is refused. */
export class AccessGuard implements CanActivate {
  /** What each connection sent last: a client that stays sends the same key again, which need not be digested again. */
  private readonly lastOn = new WeakMap<object, { readonly text: string; readonly key: Presented | null }>();

  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly tenants: TenantStore,
    private readonly rates: RateLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const rule = this.reflector.getAllAndOverride<AccessRule | 'public' | undefined>(ACCESS_RULE, [context.getHandler(), context.getClass()]);
    if (rule === 'public') return true;
    if (rule === undefined) throw new AppError('FORBIDDEN', 'this route is open to nobody');
    return this.admit(rule, context.switchToHttp().getRequest<FastifyRequest>());
  }

  /** The tenant, if the caller is admitted by what is known of its key or token right now; null also means: ask the ordinary way. */
  admitsFromMemory(rule: AccessRule, { headers, connection }: Knock): Admission | null {
    const key = this.keyOn(connection, headers);
    const principal = key && this.authenticator.recognise(key);
    if (!principal) return null;
    try {
      admitTenant(rule, { headers }, principal);
    } catch {
      return null;
    }
    const caller = { tenant: principal.tenant, keyId: principal.keyId };
    const over = this.rates.over(caller.tenant, caller.keyId);
    return { caller, refusal: over && tooManyRequests(over) };
  }

  /** Counts a request that was admitted from memory and answered, or refused; the headers that tell of it, names and values in turn. */
  count({ caller: { tenant, keyId } }: Admission): string[] {
    return rateHeaders(this.rates.take(tenant, keyId));
  }

  /** Compared with nothing but what the same connection sent before. */
  private keyOn(connection: object, headers: FastifyRequest['headers']): Presented | null {
    const last = this.lastOn.get(connection);
    const text = headers.authorization ?? '';
    if (last !== undefined && text !== '' && last.text === text) return last.key;
    const key = presentedKey({ headers });
    const read = key === null ? null : presentedAs(key);
    this.lastOn.set(connection, { text, key: read });
    return read;
  }

  private admit(rule: AccessRule, request: FastifyRequest): boolean | Promise<boolean> {
    const key = presentedKey(request);
    if (key === null) throw unauthenticated();
    const principal = this.authenticator.fromMemory(key);
    if (principal !== null) return this.allow(rule, request, principal);
    return this.authenticator.authenticate(key).then((found) => this.allow(rule, request, found));
  }

  private allow(rule: AccessRule, request: Admitted, principal: Principal): boolean | Promise<boolean> {
    request.principal = principal;
    if (principal.kind === 'platform') return rule === 'platform' || this.actOn(request);
    request.caller = { tenant: principal.tenant, keyId: principal.keyId };
    request.standing = this.rates.take(principal.tenant, principal.keyId);
    if (request.standing?.isOver === true) throw tooManyRequests(request.standing);
    admitTenant(rule, request, principal);
    request.tenant = principal.tenant;
    return true;
  }

  /** The platform key acts on the tenant that it names. */
  private async actOn(request: Admitted): Promise<boolean> {
    const named = request.headers['x-tenant-id'];
    if (typeof named !== 'string' || named === '') throw new AppError('TENANT_REQUIRED', 'the platform key must name a tenant in `X-Tenant-Id`');
    const tenant: TenantId | null = tenantId(named);
    if (tenant === null || !(await this.tenants.exists(tenant))) throw tenantNotFound();
    request.tenant = tenant;
    request.caller = { tenant, keyId: null };
    return true;
  }
}

/** Throws where a tenant's key, or a person's token, does not open the route, or names another tenant. */
function admitTenant(rule: AccessRule, { headers }: Pick<FastifyRequest, 'headers'>, principal: TenantPrincipal): void {
  requireScope(rule, principal);
  const named = headers['x-tenant-id'];
  if (named !== undefined && named !== principal.tenant) throw tenantNotFound();
}

function requireScope(rule: AccessRule, { kind, scopes }: TenantPrincipal): void {
  if (rule === 'platform') throw new AppError('FORBIDDEN', 'only the platform key may do this');
  // A key has a scope; a token may grant none, and then it opens nothing.
  if (scopes.size === 0) throw new AppError('FORBIDDEN', 'the token grants no scope here');
  if (rule === 'any-key') return;
  if (!rule.anyOf.some((scope) => scopes.has(scope))) throw new AppError('FORBIDDEN', `the ${kind === 'person' ? 'token' : 'key'} needs the scope ${rule.anyOf.map((scope) => `\`${scope}\``).join(' or ')}`);
}
