import type { Announcement } from '../platform/announcement.js';

/** By which way something was learnt of a commit. */
export type Road = 'redis' | 'postgres' | 'check';

export interface Listener {
  readonly hear: (announcement: Announcement) => void;
  /** Messages may have been lost before this moment. */
  readonly gap: () => void;
}

/** A way for replicas to tell one another of commits. It promises nothing: messages may be lost, repeated, late and made up. */
export abstract class Announcements {
  abstract readonly road: Road;
  abstract start(listener: Listener): void;
  abstract stop(): Promise<void>;
}
