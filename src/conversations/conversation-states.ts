import { isConversationId } from '../core/snapshot.js';
import type { MonotonicClock, Reading } from '../platform/readings/readings.js';
import { Readings } from '../platform/readings/readings.js';
import type { TenantId } from '../platform/tenant-id.js';
import { within } from '../platform/errors/within.js';
import type { Change, Conversation } from './conversation.store.js';
import type { ConversationStore } from './conversation.store.js';

/** Shorter than a policy view is, for nothing tells of changes on other replicas: see ADR 12. */
const FRESH_MS = 200;
/** A look that takes longer counts as failed. */
const LOOK_TIMEOUT_MS = 3_000;
/** Names in all the conversations of the process; some 100 bytes each. */
const MAX_NAMES = 500_000;

/** A conversation as it was read, or that there is none. */
export interface ServedConversation {
  readonly conversation: Conversation | null;
  /** Of its state: differs whenever the state may differ. */
  readonly version: string;
  /** 0 for a fresh one, else how long ago it was certain to be current. */
  readonly staleForMs: number;
}

const served = ({ value, staleForMs }: Reading<Conversation>): ServedConversation => ({ conversation: value, version: value?.version ?? 'none', staleForMs });

/** What can not be kept was never begun. */
const NEVER_BEGUN = served({ value: null, staleForMs: 0 });

const namesIn = ({ state: { deferredSet, initialExposed, loaded, discovered } }: Conversation): number =>
  1 + deferredSet.length + initialExposed.length + loaded.length + discovered.length;

type Key = `${TenantId}\n${string}`;

/** The conversations that this process was asked about lately. */
export class ConversationStates {
  private readonly readings: Readings<Key, Conversation>;

  constructor(
    private readonly store: ConversationStore,
    maxStalenessMs: number,
    now?: MonotonicClock,
  ) {
    this.readings = new Readings({
      load: (key) => {
        const [tenant, id] = partsOf(key);
        return within(LOOK_TIMEOUT_MS, store.find(tenant, id));
      },
      freshMs: FRESH_MS,
      maxStalenessMs,
      maxSize: MAX_NAMES,
      sizeOf: namesIn,
      keepsAbsent: true,
      readsAhead: true,
      ...(now && { now }),
    });
  }

  /** Undefined when the database must be asked first: the hot path. */
  hot(tenant: TenantId, id: string): ServedConversation | undefined {
    if (!isConversationId(id)) return NEVER_BEGUN;
    const value = this.readings.hot(keyOf(tenant, id));
    return value === undefined ? undefined : served({ value, staleForMs: 0 });
  }

  async current(tenant: TenantId, id: string): Promise<ServedConversation> {
    return isConversationId(id) ? served(await this.readings.current(keyOf(tenant, id))) : NEVER_BEGUN;
  }

  /** With every change that had committed anywhere when it was asked for. */
  async fresh(tenant: TenantId, id: string): Promise<ServedConversation> {
    return isConversationId(id) ? served({ value: await this.readings.fresh(keyOf(tenant, id)), staleForMs: 0 }) : NEVER_BEGUN;
  }

  noteWrite(tenant: TenantId, id: string): void {
    this.readings.noteWrite(keyOf(tenant, id));
  }

  /** An agent of the tenant may be gone, and its conversations with it. */
  noteGovernance(tenant: TenantId): void {
    this.readings.noteWrites((key) => key.startsWith(`${tenant}\n`));
  }

  /** Changes a conversation in the store; this process answers from what became of it at once. */
  async change<T>(tenant: TenantId, id: string, change: (conversation: Conversation) => Change<T>): Promise<T | null> {
    if (!isConversationId(id)) return null;
    try {
      return await this.store.update(tenant, id, change);
    } finally {
      this.noteWrite(tenant, id);
    }
  }
}

const keyOf = (tenant: TenantId, id: string): Key => `${tenant}\n${id}`;

/** A tenant's id holds no line break. */
function partsOf(key: Key): readonly [TenantId, string] {
  const at = key.indexOf('\n');
  return [key.slice(0, at) as TenantId, key.slice(at + 1)];
}
