import type { IncomingHttpHeaders } from 'node:http';
import http from 'node:http';

export interface WireRequest {
  readonly method: string;
  /** As it goes over the wire: nothing is escaped or put in order. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const STREAM_MS = 40;

/** A few connections that stay open, for suites that ask thousands of times. */
export class Wire {
  private readonly agent: http.Agent;

  constructor(
    private readonly url: string,
    connections = 8,
  ) {
    this.agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  }

  /** A stream that does not end is left after a moment, with what came until then. */
  send({ method, path, headers, body }: WireRequest): Promise<WireAnswer> {
    const { hostname, port } = new URL(this.url);
    const sized = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    return new Promise((resolve, reject) => {
      const request = http.request({ agent: this.agent, hostname, port, method, path, headers: { ...sized, ...headers } }, (response) => {
        const { statusCode: status = 0, headers: got } = response;
        const chunks: Buffer[] = [];
        const done = (): void => resolve({ status, headers: got, text: Buffer.concat(chunks).toString('utf8') });
        response.on('error', reject).on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', done);
        if (got['content-type']?.startsWith('text/event-stream') !== true) return;
        response.off('error', reject).on('error', () => undefined);
        setTimeout(() => {
          done();
          response.destroy();
        }, STREAM_MS);
      });
      request.on('error', reject).end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Works through all of them, a few at a time, and answers in their order. */
export async function inLanes<T, R>(lanes: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const lane = async (): Promise<void> => {
    for (const [at, item] of waiting) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
