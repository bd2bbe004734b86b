import { Injectable } from '@nestjs/common';
import type { Entity, HistoryEntry, ListedEntry } from '../core/history.js';
import type { Committed } from '../governance/governance.store.js';
import { GovernanceStore } from '../governance/governance.store.js';
import type { Author } from '../platform/author.js';
import { reverting } from '../platform/author.js';
import { AppError } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { HistoryFilter } from './history.store.js';
import { HistoryStore } from './history.store.js';
import { Reverter } from './reverter.js';

export interface Reverted {
  readonly reverts: number;
  readonly entity: Entity;
  readonly id: string;
  /** False where everything was as before that write already: then nothing is written. */
  readonly changed: boolean;
}

@Injectable()
export class HistoryService {
  constructor(
    private readonly history: HistoryStore,
    private readonly governance: GovernanceStore,
    private readonly reverter: Reverter,
  ) {}

  /** Newest first, those before the revision. */
  list(tenant: TenantId, filter: HistoryFilter, before: number | null, limit: number): Promise<readonly ListedEntry[]> {
    return this.history.list(tenant, filter, before, limit);
  }

  async get(tenant: TenantId, revision: number): Promise<HistoryEntry> {
    const entry = await this.history.find(tenant, revision);
    if (entry === null) throw new AppError('HISTORY_ENTRY_NOT_FOUND', `history has no entry of revision ${revision}`);
    return entry;
  }

  /**
   * INVARIANT (revert): undoes that one entry; decisions are those of before it again. Without `force` a thing that changed
   * since is left alone.
   */
  async revert(by: Author, revision: number, force: boolean): Promise<Committed<Reverted>> {
    const entry = await this.get(by.tenant, revision);
    await this.reverter.judgeAhead(entry);
    return this.governance.write(reverting(by, revision), async (unit) => {
      const { revision: before } = unit;
      // A tenant that was deleted and made anew meanwhile has not come so far: the entry is another tenant's.
      if (before < revision) throw new AppError('HISTORY_ENTRY_NOT_FOUND', `history has no entry of revision ${revision}`);
      await this.reverter.undo(unit, entry, force);
      return { reverts: revision, entity: entry.entity, id: entry.id, changed: unit.revision !== before };
    });
  }
}
