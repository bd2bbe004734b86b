/** What happened in a run, timed by the one clock of the test process, in milliseconds. */
import type { CheckInput, DecideInput } from '../../src/core/request.js';
import type { SettingsPatch } from '../../src/tenancy/settings.service.js';

/** What a write said: it holds at the revision that was acknowledged. */
export type Claim =
  | { readonly kind: 'switch'; readonly agentId: string; readonly tool: string; readonly on: boolean }
  | { readonly kind: 'tool'; readonly name: string; readonly status: string; readonly label: string }
  | { readonly kind: 'settings'; readonly patch: SettingsPatch }
  | { readonly kind: 'agent'; readonly agentId: string; readonly displayName: string; readonly enabled: readonly string[]; readonly disabled: readonly string[] }
  | { readonly kind: 'no agent'; readonly agentId: string }
  | { readonly kind: 'sync'; readonly source: string; readonly names: readonly string[]; readonly description: string };

export interface Acknowledged {
  readonly revision: number;
  readonly requestId: string;
  /** When its answer was here. */
  readonly at: number;
  readonly claim: Claim;
}

export type Question = { readonly route: '/v1/decide'; readonly body: DecideInput } | { readonly route: '/v1/check'; readonly body: CheckInput };

export interface Read {
  readonly question: Question;
  readonly minRevision: number | null;
  readonly askedAt: number;
  readonly answeredAt: number;
  /** Of the header. */
  readonly revision: number;
  /** True: the text is that of the earlier answer whose ETag was sent. */
  readonly is304: boolean;
  readonly text: string;
}

/** Names that a conversation had loaded, by an answer that said so. */
export interface Loaded {
  readonly conversationId: string;
  readonly names: readonly string[];
  readonly at: number;
}

/** What a reader of `GET /v1/changes` was told, in order; null where the route is not there. */
export interface Streamed {
  /** The last revision before it began. */
  readonly since: number;
  readonly revisions: readonly number[];
  readonly resyncs: number;
}

/** A request that was not answered as it should be in fair weather. */
export interface Failure {
  readonly what: 'plain read' | 'other read' | 'write' | 'load';
  readonly url: string;
  readonly askedAt: number;
  readonly answeredAt: number;
  /** A status, or 0 where no answer came. */
  readonly status: number;
  readonly detail: string;
}

export interface Fault {
  readonly name: string;
  readonly of: 'database' | 'redis' | 'replica';
  readonly from: number;
  readonly to: number;
  /** Of a replica: which one. */
  readonly url?: string;
}

/** An entry as `GET /v1/history` answers it. */
export interface Entry {
  readonly revision: number;
  readonly requestId: string;
  readonly entity: string;
  readonly id: string;
  readonly before: any;
  readonly after: any;
}

export interface TenantRun {
  readonly tenant: string;
  readonly entries: readonly Entry[];
  readonly acknowledged: readonly Acknowledged[];
  readonly reads: readonly Read[];
  readonly loaded: readonly Loaded[];
  readonly streamed: Streamed | null;
}

export interface Run {
  readonly tenants: readonly TenantRun[];
  readonly failures: readonly Failure[];
  readonly faults: readonly Fault[];
  readonly beganAt: number;
  readonly tookMs: number;
}
