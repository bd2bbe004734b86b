import type { PolicyDelta, PolicyPoint } from '../core/policy-view.js';
import { agentRecord, loadingCategory, settingsOf, toolRecord } from '../governance/record-mapper.js';
import type { Database } from '../platform/database/database.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyLoader } from './policy.loader.js';

export class PrismaPolicyLoader extends PolicyLoader {
  constructor(private readonly database: Database) {
    super();
  }

  /** The revision is read first, and a snapshot makes all that follows agree with it. */
  override load(tenantId: TenantId, since: PolicyPoint | null): Promise<PolicyDelta | 'unchanged' | null> {
    return this.database.inTenant(tenantId, async (tx) => {
      const tenant = await tx.tenant.findUnique({ where: { id: tenantId } });
      if (tenant === null) return null;
      const known = since?.incarnation === tenant.incarnation ? since.revision : null;
      if (known === Number(tenant.revision)) return 'unchanged';
      // A delta does not tell of what was deleted, nor of what a database that was restored has lost.
      const complete = known === null || Number(tenant.revision) < known || Number(tenant.deletedRevision) > known;
      const changed = { tenantId, ...(complete ? {} : { revision: { gt: known } }) };
      return {
        incarnation: tenant.incarnation,
        revision: Number(tenant.revision),
        settings: settingsOf(tenant.settings),
        settingsRevision: Number(tenant.settingsRevision),
        complete,
        tools: (await tx.tool.findMany({ where: changed })).map(toolRecord),
        categories: (await tx.loadingCategory.findMany({ where: { tenantId } })).map(loadingCategory),
        agents: (await tx.agent.findMany({ where: changed })).map(agentRecord),
      };
    }, { snapshot: true });
  }
}
