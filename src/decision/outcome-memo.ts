import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TenantId } from '../platform/tenant-id.js';
import { outcomeOf } from '../core/outcome.js';
import { ownBytes } from './answer-memo.js';
import { AskedBefore } from './asked-before.js';
import type { Decided } from './decision.service.js';
import { toldOf } from './decision.service.js';

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Answers as they were written, by the outcome of judging: contexts differ from turn to turn, mostly in what changes no
 * verdict. Every tool is judged each time; only the writing is spared. Kept from their second time on.
 */
export class OutcomeMemo {
  private readonly written = new LRUCache<string, Buffer>({ maxSize: MAX_BYTES, sizeCalculation: (body, key) => body.length + key.length });
  private readonly before = new AskedBefore();

  /** The answer in bytes. */
  write(tenant: TenantId, decided: Decided): Buffer {
    const outcome = decided.isSettled ? outcomeOf(decided.judgement, decided.parts, decided.language) : null;
    if (outcome === null) return bytesOf(decided);
    const { incarnation, revision } = decided.ground.view;
    const key = `${tenant}\n${incarnation}\n${revision}\n${outcome}`;
    const known = this.written.get(key);
    if (known !== undefined) return known;
    const body = bytesOf(decided);
    if (this.before.isAgain(hash('sha256', key, 'base64url'))) this.written.set(key, ownBytes(body));
    return body;
  }
}

/** A decision as it is sent. */
export const bytesOf = (decided: Decided): Buffer => Buffer.from(JSON.stringify(toldOf(decided)));
