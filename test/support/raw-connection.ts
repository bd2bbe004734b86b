import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One connection on which bytes are said as they are, and answers with a length are read one after another. */
export class RawConnection {
  private got = Buffer.alloc(0);
  private readonly socket: net.Socket;
  private isOver = false;

  private constructor(port: number) {
    this.socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('error', () => undefined).on('data', (chunk: Buffer) => (this.got = Buffer.concat([this.got, chunk])));
    for (const event of ['end', 'close']) this.socket.on(event, () => (this.isOver = true));
  }

  static async to(url: string): Promise<RawConnection> {
    const connection = new RawConnection(Number(new URL(url).port));
    await once(connection.socket, 'connect');
    return connection;
  }

  say(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** No more is said. */
  hangUp(): void {
    this.socket.end();
  }

  /** Nothing is read any more. */
  stopReading(): void {
    this.socket.pause();
  }

  /** The next, or null where the other side ends before. */
  async answer(): Promise<RawAnswer | null> {
    for (;;) {
      const answer = this.take();
      if (answer !== null) return answer;
      if (this.isOver) return null;
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'end'), once(this.socket, 'close')]);
    }
  }

  async answers(count: number): Promise<(RawAnswer | null)[]> {
    const list = [];
    for (let i = 0; i < count; i += 1) list.push(await this.answer());
    return list;
  }

  /** By the other side, whose end alone leaves this one open: what is said then is refused. */
  async isClosed(): Promise<void> {
    while (!this.socket.closed) {
      this.socket.write(' ');
      await Promise.race([new Promise((resolve) => this.socket.once('close', resolve)), sleep(50)]);
    }
  }

  leave(): void {
    this.socket.destroy();
  }

  private take(): RawAnswer | null {
    const end = this.got.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [start = '', ...lines] = this.got.toString('latin1', 0, end).split('\r\n');
    const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
    const from = end + 4;
    const to = from + Number(headers['content-length'] ?? 0);
    if (this.got.length < to) return null;
    const text = this.got.toString('utf8', from, to);
    this.got = this.got.subarray(to);
    return { status: Number(start.slice(9, 12)), headers, text };
  }
}

/** A request as most clients send it: whole, in one piece. */
export function plainRequest(path: string, key: string, body: unknown, headers: Readonly<Record<string, string>> = {}): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const all = { Host: 'crib', 'Content-Type': 'application/json', Authorization: `Bearer ${key}`, ...headers, 'Content-Length': String(Buffer.byteLength(text)) };
  return `POST ${path} HTTP/1.1\r\n${Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`;
}
