import { readAnnouncement } from '../platform/announcement.js';
import { ANNOUNCEMENTS_CHANNEL } from '../platform/database/announce.js';
import { DatabaseListener } from '../platform/database/listener.js';
import type { Listener } from './announcements.js';
import { Announcements } from './announcements.js';

/** The road that is always there where PostgreSQL is: writers announce within their transactions. */
export class PostgresAnnouncements extends Announcements {
  override readonly road = 'postgres';
  private readonly listener: DatabaseListener;

  constructor(databaseUrl: string) {
    super();
    this.listener = new DatabaseListener(databaseUrl, ANNOUNCEMENTS_CHANNEL);
  }

  override start({ hear, gap }: Listener): void {
    this.listener.start({
      message: (text) => {
        const announcement = readAnnouncement(text);
        if (announcement !== null) hear(announcement);
      },
      gap,
    });
  }

  override stop(): Promise<void> {
    return this.listener.stop();
  }
}
