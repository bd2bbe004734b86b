import { Injectable } from '@nestjs/common';
import type { Impact } from '../core/impact.js';
import { toolsMovedBy } from '../core/impact.js';
import { viewWith } from '../core/preview.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Impacts } from '../policy/impacts.js';
import { PolicyViews } from '../policy/policy-views.js';
import type { SettingsPatch } from './settings.service.js';
import { patched } from './settings.service.js';

@Injectable()
export class SettingsImpactService {
  constructor(
    private readonly views: PolicyViews,
    private readonly impacts: Impacts,
  ) {}

  /** What PATCH with these settings would do to every agent. */
  async impact(tenant: TenantId, patch: SettingsPatch, contexts: unknown): Promise<Impact> {
    const asked = this.impacts.contextsIn(contexts);
    const now = await this.views.fresh(tenant);
    const settings = patched(now.settings, patch);
    return this.impacts.of({ now, then: viewWith(now, { settings }), movable: (context) => toolsMovedBy(now.settings, settings, context, now.tools) }, asked);
  }
}
