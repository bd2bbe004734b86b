import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { any } from './crib.js';
import type { Urls } from './load.js';
import type { Streamed } from './record.js';

const RETRY_MS = 50;

/** Reads `GET /v1/changes` of any replica, and goes on with another from where it was when it is cut off. */
export class ChangeStream {
  readonly revisions: number[] = [];
  private resyncs = 0;
  private isThere = true;
  private isOver = false;
  private request: http.ClientRequest | null = null;

  constructor(
    private readonly key: string,
    private readonly urls: Urls,
    private readonly since: number,
  ) {}

  async run(): Promise<void> {
    while (!this.isOver && this.isThere) {
      await this.connect().catch(() => undefined);
      await sleep(RETRY_MS);
    }
  }

  stop(): void {
    this.isOver = true;
    this.request?.destroy();
  }

  /** Null where the route is not there. */
  streamed(): Streamed | null {
    return this.isThere ? { since: this.since, revisions: this.revisions, resyncs: this.resyncs } : null;
  }

  /** Resolves when the connection ends, however it does. */
  private connect(): Promise<void> {
    const last = this.revisions.at(-1) ?? this.since;
    return new Promise((resolve, reject) => {
      const request = http.get(`${any(this.urls())}/v1/changes`, { agent: false, headers: { authorization: `Bearer ${this.key}`, accept: 'text/event-stream', 'last-event-id': String(last) } });
      this.request = request;
      request.once('error', reject).once('close', () => resolve());
      request.once('response', (response) => {
        if (response.statusCode === 404) this.isThere = false;
        if (response.statusCode !== 200) {
          request.destroy();
          return;
        }
        let rest = '';
        response.setEncoding('utf8').on('error', reject).on('data', (chunk: string) => {
          const blocks = (rest + chunk).split('\n\n');
          rest = blocks.pop() ?? '';
          for (const block of blocks) this.take(block);
        });
      });
    });
  }

  private take(block: string): void {
    const fields = new Map(block.split('\n').filter((line) => !line.startsWith(':')).map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
    if (fields.get('event') === 'resync') this.resyncs += 1;
    if (fields.get('event') !== 'revision') return;
    this.revisions.push((JSON.parse(fields.get('data') ?? '{}') as { revision: number }).revision);
  }
}
