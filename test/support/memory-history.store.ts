import type { HistoryEntry, ListedEntry } from '../../src/core/history.js';
import type { HistoryFilter } from '../../src/history/history.store.js';
import { HistoryStore, LISTED_BYTES } from '../../src/history/history.store.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import type { MemoryWorld } from './memory-world.js';

const DAY_MS = 86_400_000;

const sizeOf = (state: unknown): number => (state === null ? 0 : Buffer.byteLength(JSON.stringify(state)));

export class MemoryHistoryStore extends HistoryStore {
  constructor(private readonly world: MemoryWorld) {
    super();
  }

  override async list(tenant: TenantId, { entity, id, actor, from, to }: HistoryFilter, before: number | null, limit: number): Promise<readonly ListedEntry[]> {
    const found = this.kept(tenant).filter((entry) =>
      (before === null || entry.revision < before) && (entity === undefined || entry.entity === entity) && (id === undefined || entry.id === id)
      && (actor === undefined || entry.actor.keyId === actor) && (from === undefined || Date.parse(entry.at) >= from.getTime()) && (to === undefined || Date.parse(entry.at) <= to.getTime()));
    return found.sort((a, b) => b.revision - a.revision).slice(0, limit).map((entry) => {
      const { before: was, after: is, ...head } = entry;
      return { ...head, change: sizeOf(was) + sizeOf(is) <= LISTED_BYTES ? changeOf(entry) : null };
    });
  }

  override async find(tenant: TenantId, revision: number): Promise<HistoryEntry | null> {
    return this.kept(tenant).find((entry) => entry.revision === revision) ?? null;
  }

  override async sweep(tenant: TenantId, batch: number): Promise<number> {
    const state = this.world.tenants.get(tenant);
    if (state === undefined) return 0;
    const past = Date.now() - state.settings.settings.historyRetentionDays * DAY_MS;
    const old = new Set(state.history.filter(({ at }) => Date.parse(at) < past).slice(0, batch));
    state.history = state.history.filter((entry) => !old.has(entry));
    return old.size;
  }

  /** Makes an entry look that many days old. */
  age(tenant: TenantId, revision: number, days: number): void {
    const state = this.world.of(tenant);
    state.history = state.history.map((entry) => (entry.revision === revision ? { ...entry, at: new Date(Date.now() - days * DAY_MS).toISOString() } : entry));
  }

  private kept(tenant: TenantId): HistoryEntry[] {
    return [...(this.world.tenants.get(tenant)?.history ?? [])];
  }
}

const changeOf = ({ entity, id, before, after }: HistoryEntry): ListedEntry['change'] => ({ entity, id, before, after }) as ListedEntry['change'];
