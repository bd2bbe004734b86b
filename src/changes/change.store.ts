import type { RevisionChange } from '../core/changes.js';
import type { PolicyPoint } from '../core/policy-view.js';
import type { TenantId } from '../platform/tenant-id.js';

export interface Progress extends PolicyPoint {
  /** In order, the first ones after the place that was asked for, without a gap; null where they can not be told one by one. */
  readonly changes: readonly RevisionChange[] | null;
}

/** One reading holds no more ids than fit in so many bytes of JSON, and the one beyond: a sync may touch thousands of tools. */
export const READING_BYTES = 128 * 1024;

/** What the revisions of tenants changed: read from their history, of which each revision has one entry, committed with it. */
export abstract class ChangeStore {
  /**
   * What came after `after`, with the revision of the same moment; null when there is no such tenant. While the revision is
   * beyond `after`, either the next change is there or `changes` is null.
   */
  abstract since(tenant: TenantId, after: number, most: number): Promise<Progress | null>;
}
