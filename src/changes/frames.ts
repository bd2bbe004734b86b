import type { RevisionChange } from '../core/changes.js';

/** Server-Sent Events as bytes: made once for all who read them. */
const frame = (event: string, revision: number, data: object): string => `event: ${event}\nid: ${revision}\ndata: ${JSON.stringify(data)}\n\n`;

export const revisionFrames = (changes: readonly RevisionChange[]): Buffer =>
  Buffer.from(changes.map(({ revision, kind, ids }) => frame('revision', revision, { revision, kind, ids })).join(''));

export const resyncFrame = (revision: number): Buffer => Buffer.from(frame('resync', revision, { revision }));

/** A client that is cut off comes back after so long. */
const RETRY_MS = 1_000;

/**
 * The first bytes. The id, which comes without an event, is where a stream begins that resumes none: a client that loses the
 * connection before anything happened names it when it comes back.
 */
export const openingFrame = (revision: number | null): Buffer => Buffer.from(`: changes\nretry: ${RETRY_MS}\n${revision === null ? '' : `id: ${revision}\n`}\n`);

export const HEARTBEAT = Buffer.from(':\n\n');
