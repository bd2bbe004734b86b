/** Per-tenant settings (semantics, section 1). */

export const EXPOSURES = ['all', 'deferred', 'search'] as const;
export type Exposure = (typeof EXPOSURES)[number];

export interface Settings {
  readonly alwaysInitial: readonly string[];
  readonly mainAgentInitialSubagents: readonly string[];
  /** Delegates and spawning need a depth below this. */
  readonly maxSubagentDepth: number;
  /** A sub-agent gets only what its parent passes stages 0 to 4 for. */
  readonly childWithinParent: boolean;
  readonly defaultExposure: Exposure;
  /** The words that an intent's `delegates` may use; null = any. */
  readonly intentDelegates: readonly string[] | null;
  /** Days that a conversation which nobody uses is kept. */
  readonly conversationRetentionDays: number;
  /** Days that an entry of history is kept. */
  readonly historyRetentionDays: number;
}

export const DEFAULT_SETTINGS: Settings = {
  alwaysInitial: [],
  mainAgentInitialSubagents: [],
  maxSubagentDepth: 2,
  childWithinParent: false,
  defaultExposure: 'all',
  intentDelegates: null,
  conversationRetentionDays: 30,
  historyRetentionDays: 400,
};
