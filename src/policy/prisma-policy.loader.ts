import type { PolicyDelta, PolicyPoint } from '../core/policy-view.js';
import type { ToolRow } from '../governance/record-mapper.js';
import { agentRecord, loadingCategory, settingsOf, toolRecord } from '../governance/record-mapper.js';
import type { Database, Transaction } from '../platform/database/database.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyLoader } from './policy.loader.js';

interface TenantColumns {
  readonly incarnation: string;
  readonly revision: number;
  readonly settings: string;
  readonly settings_revision: number;
  readonly deleted_revision: number;
}

interface CategoryColumns {
  readonly source: string;
  readonly key: string;
  readonly label: string;
  readonly when_to_use: string;
  readonly sort: number;
}

interface AgentColumns {
  readonly agent_id: string;
  readonly document: string;
  readonly origin: string;
  readonly legacy: string | null;
  readonly revision: number;
  readonly updated_at: string;
}

/** A row as PostgreSQL tells it in JSON, by the names of its columns. */
interface Found {
  readonly tenant: TenantColumns[];
  readonly tool: ToolRow[];
  readonly category: CategoryColumns[];
  readonly agent: AgentColumns[];
}

/** Before the first revision: all has changed since. */
const NEVER = -1;

export class PrismaPolicyLoader extends PolicyLoader {
  constructor(private readonly database: Database) {
    super();
  }

  override load(tenantId: TenantId, since: PolicyPoint | null): Promise<PolicyDelta | 'unchanged' | null> {
    return this.database.inTenant(tenantId, async (tx) => {
      if (since === null) return complete(tx, tenantId);
      const changed = await changedSince(tx, tenantId, since.revision);
      const [tenant] = changed.tenant;
      if (tenant === undefined) return null;
      const { incarnation, revision, deleted_revision: deletedRevision } = tenant;
      if (incarnation === since.incarnation && revision === since.revision) return 'unchanged';
      // A delta does not tell of what was deleted, nor of what a database that was restored has lost.
      const isDelta = incarnation === since.incarnation && revision > since.revision && deletedRevision <= since.revision;
      return isDelta ? deltaOf(tenant, changed, false) : complete(tx, tenantId);
    });
  }
}

async function complete(tx: Transaction, tenantId: TenantId): Promise<PolicyDelta | null> {
  const all = await changedSince(tx, tenantId, NEVER);
  const [tenant] = all.tenant;
  return tenant === undefined ? null : deltaOf(tenant, all, true);
}

/**
 * One statement sees one moment, and is one way to the server: the sooner does a replica that has heard of a commit decide
 * by it. Of the categories it finds all, for they have no revision.
 */
async function changedSince(tx: Transaction, tenantId: TenantId, revision: number): Promise<Found> {
  const rows = await tx.$queryRaw<{ readonly kind: keyof Found; readonly columns: string }[]>`
    SELECT 'tenant' AS kind, row_to_json(tenants)::text AS columns FROM tenants WHERE id = ${tenantId}
    UNION ALL SELECT 'tool', row_to_json(tools)::text FROM tools WHERE tenant_id = ${tenantId} AND revision > ${BigInt(revision)}
    UNION ALL SELECT 'category', row_to_json(loading_categories)::text FROM loading_categories WHERE tenant_id = ${tenantId}
    UNION ALL SELECT 'agent', row_to_json(agents)::text FROM agents WHERE tenant_id = ${tenantId} AND revision > ${BigInt(revision)}`;
  const found: Found = { tenant: [], tool: [], category: [], agent: [] };
  for (const { kind, columns } of rows) found[kind].push(JSON.parse(columns) as never);
  return found;
}

const deltaOf = (tenant: TenantColumns, { tool, category, agent }: Found, isComplete: boolean): PolicyDelta => ({
  incarnation: tenant.incarnation,
  revision: tenant.revision,
  settings: settingsOf(tenant.settings),
  settingsRevision: tenant.settings_revision,
  complete: isComplete,
  tools: tool.map(toolRecord),
  categories: category.map(({ when_to_use: whenToUse, ...columns }) => loadingCategory({ ...columns, whenToUse })),
  agents: agent.map(({ agent_id: agentId, updated_at: updatedAt, ...columns }) => agentRecord({ ...columns, agentId, updatedAt: new Date(updatedAt) })),
});
