import type { ExecutionContext } from '@nestjs/common';
import { SetMetadata, createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Author } from '../platform/author.js';
import { PLATFORM_ACTOR, author } from '../platform/author.js';
import { ACCESS_RULE } from '../platform/http/public.decorator.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { Principal } from './authenticator.js';
import type { Standing } from './rate-limits.js';
import type { Scope } from './scope.js';

/** What a route asks of its caller: one of some scopes, any scope of a tenant, or the platform key. */
export type AccessRule = { readonly anyOf: readonly Scope[] } | 'any-key' | 'platform';

/** A route without this is refused to everybody. */
export const Access = (rule: AccessRule): MethodDecorator & ClassDecorator => SetMetadata(ACCESS_RULE, rule);

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
    tenant?: TenantId;
    /** With the limits of its key and tenant. */
    standing?: Standing | null;
  }
}

/** The tenant that the request acts on; the guard has seen to it that there is one. */
export const Tenant = createParamDecorator((_: unknown, context: ExecutionContext): TenantId => {
  const { tenant } = context.switchToHttp().getRequest<FastifyRequest>();
  if (tenant === undefined) throw new Error('no tenant on a route that needs one');
  return tenant;
});

/** On whose behalf the request writes. */
export const By = createParamDecorator((_: unknown, context: ExecutionContext): Author => {
  const { tenant, principal, id } = context.switchToHttp().getRequest<FastifyRequest>();
  if (tenant === undefined || principal === undefined) throw new Error('no caller on a route that writes');
  return author(tenant, principal.kind === 'platform' ? PLATFORM_ACTOR : { keyId: principal.keyId, name: principal.keyName }, id);
});
