import { hash } from 'node:crypto';
import type { CheckAnswer } from '../core/decision.js';
import type { TurnInput } from '../core/request.js';
import type { Logger } from '../platform/observability/logger.js';
import type { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { Decided } from './decision.service.js';
import { bytesOf } from './outcome-memo.js';

/** Who asked, and in which request. */
export interface Asker {
  readonly tenant: TenantId;
  /** Null for the platform key. */
  readonly keyId: string | null;
  readonly requestId: string;
  readonly traceId: string | undefined;
  /** Ahead of the framework, or through it. */
  readonly road: 'ahead' | 'ordinary';
}

/** A whole answer: in bytes, as text, or as what it would be written from where it is not sent. */
export type Content = Buffer | string | Decided;

interface Made extends Asker {
  /** The question, or the text of one that was read without a fault. */
  readonly asked: Buffer | string | TurnInput;
  readonly revision: number;
  readonly staleForMs: number;
  readonly durationMs: number;
}

export interface DecideNoted extends Made {
  /** Its place in a batch. */
  readonly item?: number;
  readonly outcome: 'ok' | 'empty' | 'not_modified';
  readonly content: Content;
}

export interface CheckNoted extends Made {
  readonly verdict: Pick<CheckAnswer, 'allowed' | 'code' | 'stage'>;
  readonly toolName: string;
}

type Noted = DecideNoted | CheckNoted;

/** What waits at the most; a line is made in some microseconds, so that little ever does. */
const MOST_WAITING = 10_000;
const MOST_BYTES = 32 * 1024 * 1024;
/** Of what is held of a decision that is not written yet, about. */
const UNWRITTEN_BYTES = 64 * 1024;
const ENTRY_BYTES = 500;
/** Of a name that the caller made up; as many as a conversation's id may have. */
const MOST_CHARACTERS = 256;
/** At a time, before requests get their turn. */
const DRAIN_MS = 2;

/**
 * A share of all decisions, one line each, by what they were and never by what was asked: no argument, no attribute, no body. A line is made
 * after its answer is sent; what comes faster than lines can be made is dropped, and counted.
 */
export class DecisionLog {
  readonly isOn: boolean;
  private queue: Noted[] = [];
  private bytes = 0;
  private isDue = false;
  /** Answers that are given again and again are digested once. */
  private readonly digests = new WeakMap<Buffer, string>();

  constructor(
    private readonly logger: Logger,
    private readonly metrics: Metrics,
    private readonly share: number,
    private readonly mostWaiting = MOST_WAITING,
  ) {
    this.isOn = share > 0 && logger.isLevelEnabled('info');
  }

  note(made: Noted): void {
    if (!this.isOn || !this.isSampled(made)) return;
    // Bytes of a connection are part of a larger buffer, which they would keep with them.
    const noted = Buffer.isBuffer(made.asked) ? { ...made, asked: made.asked.toString('utf8') } : made;
    const bytes = weightOf(noted);
    if (this.queue.length >= this.mostWaiting || this.bytes + bytes > MOST_BYTES) {
      this.metrics.decisionLogDropped.inc();
      return;
    }
    this.queue.push(noted);
    this.bytes += bytes;
    this.drainSoon();
  }

  /** All that waits, at once: the process ends. */
  onApplicationShutdown(): void {
    this.drain(Infinity);
  }

  /** The same for the same trace, else for the same request: who repeats a question that is logged is logged again. */
  private isSampled({ requestId, traceId, ...noted }: Noted): boolean {
    const item = 'item' in noted ? `:${noted.item}` : '';
    return placeOf(`${traceId ?? requestId}${item}`) < this.share;
  }

  private drainSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      this.drain(performance.now() + DRAIN_MS);
    });
  }

  private drain(until: number): void {
    let done = 0;
    do {
      const noted = this.queue[done];
      if (noted === undefined) break;
      this.write(noted);
      this.bytes -= weightOf(noted);
      done += 1;
    } while (performance.now() < until);
    this.queue = this.queue.slice(done);
    if (this.queue.length > 0) this.drainSoon();
  }

  private write(noted: Noted): void {
    try {
      this.logger.info({ ...whatOf(noted), ...('content' in noted && { projection: this.digestOf(noted.content) }), ...whoOf(noted) }, 'decision');
    } catch {
      // Nobody's request fails for its line.
      this.metrics.decisionLogDropped.inc();
    }
  }

  private digestOf(content: Content): string {
    if (typeof content === 'string') return digest(content);
    const body = Buffer.isBuffer(content) ? content : bytesOf(content);
    const known = this.digests.get(body) ?? digest(body);
    this.digests.set(body, known);
    return known;
  }
}

const digest = (content: string | Buffer): string => hash('sha256', content, 'base64url');

const whatOf = (noted: Noted): object =>
  'content' in noted ? { kind: 'decide', item: noted.item, outcome: noted.outcome } : { kind: 'check', toolName: noted.toolName.slice(0, MOST_CHARACTERS), ...noted.verdict };

function whoOf({ tenant, keyId, asked, revision, staleForMs, durationMs, road, requestId, traceId }: Noted): object {
  const { agentId, context, conversationId } = readAgain(asked);
  return {
    tenant,
    keyId,
    agentId,
    parentAgentId: context?.subagent?.parentAgentId,
    conversationId: conversationId?.slice(0, MOST_CHARACTERS),
    revision,
    freshness: staleForMs === 0 ? 'fresh' : 'stale',
    ...(staleForMs > 0 && { staleForMs }),
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    road,
    requestId,
    traceId,
  };
}

const readAgain = (asked: Noted['asked']): TurnInput => (typeof asked === 'string' || Buffer.isBuffer(asked) ? (JSON.parse(String(asked)) as TurnInput) : asked);

function weightOf(noted: Noted): number {
  const { asked } = noted;
  const content = 'content' in noted ? noted.content : '';
  return ENTRY_BYTES + (typeof asked === 'string' ? asked.length : 0) + (typeof content === 'string' || Buffer.isBuffer(content) ? content.length : UNWRITTEN_BYTES);
}

/** From 0 to 1, evenly, and always the same (FNV-1a, then mixed as MurmurHash ends): ids may be numbers in a row. */
function placeOf(id: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) bits = Math.imul(bits ^ id.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
