import { Injectable } from '@nestjs/common';
import { equalJson, mergePatch, unique } from '../core/json.js';
import type { Settings } from '../core/settings.js';
import { DEFAULT_SETTINGS } from '../core/settings.js';
import type { Committed, StoredSettings } from '../governance/governance.store.js';
import { GovernanceStore } from '../governance/governance.store.js';
import type { Author } from '../platform/author.js';
import { requireMatch } from '../platform/errors/etag.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyViews } from '../policy/policy-views.js';

/** Absent leaves, null takes the default back. */
export type SettingsPatch = { readonly [K in keyof Settings]?: Settings[K] | null };

@Injectable()
export class SettingsService {
  constructor(
    private readonly governance: GovernanceStore,
    private readonly views: PolicyViews,
  ) {}

  async read(tenant: TenantId): Promise<StoredSettings> {
    const { settings, settingsRevision } = await this.views.fresh(tenant);
    return { settings, revision: settingsRevision };
  }

  patch(by: Author, ifMatch: string | undefined, patch: SettingsPatch): Promise<Committed<StoredSettings>> {
    return this.governance.write(by, async (unit) => {
      const before = unit.settings();
      requireMatch(ifMatch, before.revision);
      const after = patched(before.settings, patch);
      if (!equalJson(before.settings, after)) await unit.saveSettings(after);
      return unit.settings();
    });
  }
}

/** The settings after the patch. */
export function patched(before: Settings, patch: SettingsPatch): Settings {
  const after = { ...DEFAULT_SETTINGS, ...(mergePatch(before, patch) as Partial<Settings>) };
  return {
    ...after,
    alwaysInitial: unique(after.alwaysInitial),
    mainAgentInitialSubagents: unique(after.mainAgentInitialSubagents),
    intentDelegates: after.intentDelegates && unique(after.intentDelegates),
  };
}
