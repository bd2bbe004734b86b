import type { Announcement } from '../announcement.js';
import type { Transaction } from './database.js';

export const ANNOUNCEMENTS_CHANNEL = 'toolcrib_announcements';

/** Told by PostgreSQL itself as the transaction commits, so no crash can come between; told to nobody when it does not. */
export async function announce(tx: Transaction, announcement: Announcement): Promise<void> {
  await tx.$executeRaw`SELECT pg_notify(${ANNOUNCEMENTS_CHANNEL}, ${JSON.stringify(announcement)})`;
}
