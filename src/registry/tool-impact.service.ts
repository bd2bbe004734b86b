import { Inject, Injectable } from '@nestjs/common';
import type { Impact } from '../core/impact.js';
import { viewWith } from '../core/preview.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { toolNotFound } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Impacts } from '../policy/impacts.js';
import { PolicyViews } from '../policy/policy-views.js';
import type { GovernancePatch } from './tools.service.js';
import { governed } from './tools.service.js';

@Injectable()
export class ToolImpactService {
  constructor(
    private readonly views: PolicyViews,
    private readonly impacts: Impacts,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  /** What PATCH with these overrides would do to every agent. No other tool can fare otherwise by it. */
  async impact(tenant: TenantId, name: string, patch: GovernancePatch, contexts: unknown): Promise<Impact> {
    const asked = this.impacts.contextsIn(contexts);
    const now = await this.views.fresh(tenant);
    const tool = now.byName.get(name);
    if (tool === undefined) throw toolNotFound(name);
    const then = viewWith(now, { tools: [{ ...tool.record, governance: governed(tool.record, patch, this.limits) }] });
    return this.impacts.of({ now, then, movable: () => [tool] }, asked);
  }
}
