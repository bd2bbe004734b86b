import type { PolicyPoint } from '../../src/core/policy-view.js';
import type { KeyName, Seen } from '../../src/invalidation/revision.loader.js';
import { RevisionLoader } from '../../src/invalidation/revision.loader.js';
import type { TenantId } from '../../src/platform/tenant-id.js';
import type { MemoryWorld } from './memory-world.js';

export class MemoryRevisionLoader extends RevisionLoader {
  constructor(private readonly world: MemoryWorld) {
    super();
  }

  override async points(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, PolicyPoint>> {
    return new Map(tenants.flatMap((tenant) => {
      const state = this.world.tenants.get(tenant);
      return state === undefined ? [] : [[tenant, { incarnation: state.incarnation, revision: state.revision }] as const];
    }));
  }

  override async look(tenants: readonly TenantId[], keys: readonly KeyName[]): Promise<Seen> {
    return { points: await this.points(tenants), keys: keys.filter(({ tenant, keyId }) => this.world.tenants.get(tenant)?.keys.has(keyId)) };
  }
}
