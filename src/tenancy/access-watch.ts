import type { OnModuleDestroy } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { within } from '../platform/errors/within.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { TenantPrincipal } from './authenticator.js';
import type { KeyStore } from './key.store.js';
import type { People } from './people.js';

interface Watched {
  readonly principal: TenantPrincipal;
  /** When the key was certain to be in force. */
  knownAt: number;
  /** Milliseconds since the epoch, by the wall clock, as far as it is known. */
  expiresAt: number;
  readonly end: (why: 'key' | 'stale') => void;
}

export interface WatchOptions {
  readonly maxStalenessMs: number;
  readonly everyMs: number;
  readonly now: () => number;
}

export const WATCH_DEFAULTS = { everyMs: 1_000, now: () => performance.now() } as const;

const LOOK_TIMEOUT_MS = 2_000;
/** Tenants looked at side by side, so that many of them leave the database to others too. */
const LANES = 4;

/** Whether the keys and tokens of answers that do not end are in force still. One timer for all; one statement for each tenant, however many keys. */
export class AccessWatch implements OnModuleDestroy {
  private readonly watched = new Map<TenantId, Set<Watched>>();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly keys: KeyStore,
    private readonly options: WatchOptions,
    private readonly people: People | null = null,
  ) {}

  /** Calls `end` once the key or token of the admitted request is revoked or expired, or nothing certain is known of it for too long. Answers how to stop. */
  watch({ principal }: Pick<FastifyRequest, 'principal'>, end: Watched['end']): () => void {
    if (principal === undefined || principal.kind === 'platform') return () => undefined;
    const { tenant } = principal;
    const entry: Watched = { principal, knownAt: this.options.now(), expiresAt: Infinity, end };
    const ofTenant = this.watched.get(tenant) ?? new Set();
    this.watched.set(tenant, ofTenant.add(entry));
    this.timer ??= this.schedule();
    return () => {
      ofTenant.delete(entry);
      if (ofTenant.size === 0 && this.watched.get(tenant) === ofTenant) this.watched.delete(tenant);
    };
  }

  onModuleDestroy(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private schedule(): NodeJS.Timeout | undefined {
    if (this.isStopped || this.watched.size === 0) return undefined;
    return setTimeout(() => void this.look().finally(() => (this.timer = this.schedule())), this.options.everyMs).unref();
  }

  private async look(): Promise<void> {
    const waiting = [...this.watched];
    const lane = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await this.lookAt(...next);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  private async lookAt(tenant: TenantId, ofTenant: ReadonlySet<Watched>): Promise<void> {
    const entries = [...ofTenant];
    const keys = entries.filter(({ principal: { kind } }) => kind === 'tenant');
    await Promise.all([keys.length > 0 && this.lookAtKeys(tenant, keys), ...entries.filter(({ principal: { kind } }) => kind === 'person').map((entry) => this.lookAtPerson(entry))]);
  }

  /** Whether there is the tenant still, the stream itself finds out. A token whose issuer has other keys now may be as good as before: its holder comes back with it. */
  private async lookAtPerson({ principal, end }: Watched): Promise<void> {
    try {
      if (!(await this.people?.isInForce(principal))) end('key');
    } catch {
      end('stale');
    }
  }

  private async lookAtKeys(tenant: TenantId, entries: readonly Watched[]): Promise<void> {
    const lookedAt = this.options.now();
    try {
      const records = await within(LOOK_TIMEOUT_MS, this.keys.findMany(tenant, [...new Set(entries.map(({ principal: { keyId } }) => keyId))]));
      const expiries = new Map(records.map(({ keyId, expiresAt }) => [keyId, expiresAt?.getTime() ?? Infinity]));
      for (const entry of entries) {
        entry.knownAt = lookedAt;
        entry.expiresAt = expiries.get(entry.principal.keyId) ?? -Infinity;
      }
    } catch {
      // What was known last stands for a while.
      const { now, maxStalenessMs } = this.options;
      for (const { knownAt, end } of entries) if (now() - knownAt > maxStalenessMs) end('stale');
    }
    for (const { expiresAt, end } of entries) if (expiresAt <= Date.now()) end('key');
  }
}
