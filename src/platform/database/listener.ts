import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 3_000;
/** A connection that does not answer this is replaced, for a hung one brings no messages. */
const PULSE_MS = 2_000;
const PULSE_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

export interface Hears {
  readonly message: (text: string) => void;
  /** It listens again: what was said meanwhile was not heard. */
  readonly gap: () => void;
}

/** Listens to one channel of PostgreSQL on a connection of its own, for as long as it takes. */
export class DatabaseListener {
  private readonly stopping = new AbortController();
  private listening: Promise<void> | null = null;

  constructor(
    private readonly databaseUrl: string,
    private readonly channel: string,
  ) {}

  start(hears: Hears): void {
    this.listening = this.listen(hears);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.listening;
  }

  private async listen(hears: Hears): Promise<void> {
    const { signal } = this.stopping;
    let wait = FIRST_RETRY_MS;
    const listens = (): void => void (wait = FIRST_RETRY_MS);
    for (; !signal.aborted; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      await this.connection(hears, listens).catch(() => undefined);
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Ends with its connection. */
  private async connection({ message, gap }: Hears, listens: () => void): Promise<void> {
    const client = new pg.Client({ connectionString: this.databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: PULSE_TIMEOUT_MS, keepAlive: true, application_name: 'toolcrib listener' });
    const ended = new Promise<void>((resolve) => {
      // More than one may come, and each unheard would end the process.
      client.on('error', () => resolve());
      client.once('end', () => resolve());
    });
    client.on('notification', ({ payload }) => message(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${pg.escapeIdentifier(this.channel)}`);
      listens();
      gap();
      await Promise.race([ended, this.pulse(client)]);
    } finally {
      // A hung one would not say goodbye.
      client.end().catch(() => undefined);
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    }
  }

  private async pulse(client: pg.Client): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await client.query('SELECT 1');
      await sleep(PULSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
