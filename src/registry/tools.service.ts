import { Inject, Injectable } from '@nestjs/common';
import { compactOverride } from '../core/agent-document.js';
import type { CatalogTool, Governance, ToolRecord } from '../core/catalog.js';
import { catalogTool } from '../core/catalog.js';
import { equalJson, mergePatch } from '../core/json.js';
import type { LoadingGroup } from '../core/loading-registry.js';
import { isLongerThan } from '../core/text.js';
import type { ToolFilter, ToolsetCount } from '../core/tool-list.js';
import { filterTools, toolsetsOf } from '../core/tool-list.js';
import type { Committed, GovernanceUnit } from '../governance/governance.store.js';
import { GovernanceStore } from '../governance/governance.store.js';
import type { Author } from '../platform/author.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { AppError, toolNotFound } from '../platform/errors/app-error.js';
import { requireMatch } from '../platform/errors/etag.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyViews } from '../policy/policy-views.js';

/** A value overrides, null takes the override back, absent leaves. */
export type GovernancePatch = { readonly [K in keyof Governance]?: Governance[K] | null };

/** The overrides after the patch; what they may not be at once they may not become. */
export function governed({ governance }: Pick<ToolRecord, 'governance'>, patch: GovernancePatch, { bodyBytes }: Pick<Limits, 'bodyBytes'>): Governance {
  const after = compactOverride<Governance>(mergePatch(governance, patch) as Governance);
  if (!equalJson(governance, after) && isLongerThan(JSON.stringify(after), bodyBytes)) throw new AppError('LIMIT_EXCEEDED', `the overrides would be larger than ${bodyBytes} bytes`);
  return after;
}

@Injectable()
export class ToolsService {
  constructor(
    private readonly governance: GovernanceStore,
    private readonly views: PolicyViews,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  /** By (effective `sort`, `name`). */
  async list(tenant: TenantId, filter: ToolFilter): Promise<readonly CatalogTool[]> {
    return filterTools((await this.views.fresh(tenant)).tools, filter);
  }

  async get(tenant: TenantId, name: string): Promise<CatalogTool> {
    const tool = (await this.views.fresh(tenant)).byName.get(name);
    if (tool === undefined) throw toolNotFound(name);
    return tool;
  }

  async toolsets(tenant: TenantId): Promise<readonly ToolsetCount[]> {
    return toolsetsOf((await this.views.fresh(tenant)).tools);
  }

  async loadingRegistry(tenant: TenantId): Promise<readonly LoadingGroup[]> {
    return (await this.views.fresh(tenant)).loadingGroups;
  }

  async patch(by: Author, name: string, ifMatch: string | undefined, patch: GovernancePatch): Promise<Committed<CatalogTool>> {
    return this.governance.write(by, async (unit) => {
      const before = await find(unit, name);
      requireMatch(ifMatch, before.revision);
      const governance = governed(before, patch, this.limits);
      if (equalJson(before.governance, governance)) return catalogTool(before);
      await unit.saveGovernance(name, governance);
      return catalogTool({ ...before, governance, revision: unit.revision });
    });
  }

  /** Only what its source gave up; its name may then go to another source. */
  delete(by: Author, name: string): Promise<Committed<void>> {
    return this.governance.write(by, async (unit) => {
      const { available, source } = await find(unit, name);
      if (available) throw new AppError('TOOL_AVAILABLE', `\`${name}\` is still declared by \`${source}\``);
      await unit.deleteTool(name);
    });
  }
}

async function find(unit: GovernanceUnit, name: string): Promise<ToolRecord> {
  const tool = await unit.findTool(name);
  if (tool === null) throw toolNotFound(name);
  return tool;
}
