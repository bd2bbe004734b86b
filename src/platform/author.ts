import type { Actor } from '../core/history.js';
import { PLATFORM_ID } from '../core/history.js';
import type { TenantId } from './tenant-id.js';

declare const authorBrand: unique symbol;

/**
 * On whose behalf something is written: for which tenant, with which key or as which person, in which request. Every governance write takes one,
 * so a write that history could not name does not compile.
 */
export interface Author {
  readonly tenant: TenantId;
  readonly actor: Actor;
  readonly requestId: string;
  /** The revision whose entry is taken back, or null. */
  readonly reverts: number | null;
  readonly [authorBrand]: true;
}

/** Of an admitted request. */
export const author = (tenant: TenantId, actor: Actor, requestId: string): Author => ({ tenant, actor, requestId, reverts: null }) as Author;

export const reverting = (by: Author, revision: number): Author => ({ ...by, reverts: revision });

export const PLATFORM_ACTOR: Actor = { keyId: PLATFORM_ID, name: 'platform key' };
