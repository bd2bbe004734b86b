import type { PolicyDelta, PolicyPoint } from '../core/policy-view.js';
import type { TenantId } from '../platform/tenant-id.js';

/** Reads all that decides for a tenant. The one place where a decision's facts come out of the database. */
export abstract class PolicyLoader {
  /**
   * What changed since, all of one moment (a decide never sees half a sync); `unchanged` for no more than a look at the
   * revision; null when there is no such tenant.
   */
  abstract load(tenant: TenantId, since: PolicyPoint | null): Promise<PolicyDelta | 'unchanged' | null>;
}
