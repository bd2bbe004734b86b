import type { Progress } from '../../src/changes/change.store.js';
import { ChangeStore, READING_BYTES } from '../../src/changes/change.store.js';
import { following, touchedBy } from '../../src/core/changes.js';
import type { KeptChange } from '../../src/core/changes.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import type { MemoryWorld } from './memory-world.js';

export class MemoryChangeStore extends ChangeStore {
  private readonly withoutIds = new Set<string>();

  constructor(private readonly world: MemoryWorld) {
    super();
  }

  override async since(tenant: TenantId, after: number, most: number): Promise<Progress | null> {
    const state = this.world.tenants.get(tenant);
    if (state === undefined) return null;
    const { incarnation, revision } = state;
    return { incarnation, revision, changes: following(after, revision, most, revision - after > most ? [] : this.kept(tenant, after, most)) };
  }

  /** Makes entries look as if they were written before ids were kept. */
  forgetIds(tenant: TenantId, revision: number): void {
    this.withoutIds.add(`${tenant} ${revision}`);
  }

  private kept(tenant: TenantId, after: number, most: number): KeptChange[] {
    const kept: KeptChange[] = [];
    let size = 0;
    for (const entry of this.world.of(tenant).history.filter(({ revision }) => revision > after).slice(0, most)) {
      if (size >= READING_BYTES) break;
      const ids = this.withoutIds.has(`${tenant} ${entry.revision}`) ? null : touchedBy(entry);
      size += ids === null ? 0 : Buffer.byteLength(JSON.stringify(ids));
      kept.push({ revision: entry.revision, entity: entry.entity, ids });
    }
    return kept;
  }
}
