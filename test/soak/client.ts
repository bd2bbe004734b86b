import http from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** No answer came, or not a whole one. */
export class NoAnswer extends Error {
  constructor(
    readonly askedAt: number,
    readonly answeredAt: number,
    readonly code: string,
  ) {
    super(code);
  }
}

/** Longer than anything may take, so that a hang is told as one. */
const TIMEOUT_MS = 20_000;

export interface Asked {
  readonly url: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Leaner than `fetch`: the load generator shares its two cores with what it loads. */
export class Client {
  private readonly agent = new http.Agent({ keepAlive: true });

  async send(asked: Asked): Promise<Reply> {
    const askedAt = performance.now();
    try {
      return await this.once(asked, askedAt);
    } catch (error) {
      // An idle connection that the server closed just then: the request was never taken.
      if (!(error as { reused?: boolean }).reused || (asked.method !== 'GET' && asked.path !== '/v1/decide' && asked.path !== '/v1/check')) throw noAnswer(error, askedAt);
      return this.once(asked, askedAt).catch((again: unknown) => {
        throw noAnswer(again, askedAt);
      });
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private once({ url, key, method, path, body, headers }: Asked, askedAt: number): Promise<Reply> {
    const sent = body === undefined ? null : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = http.request(url + path, {
        agent: this.agent, method, timeout: TIMEOUT_MS,
        headers: { authorization: `Bearer ${key}`, ...(sent !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }), ...headers },
      });
      const fail = (error: Error): void => reject(Object.assign(error, { reused: request.reusedSocket }));
      request.once('error', fail).once('timeout', () => request.destroy(new Error('timeout')));
      request.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk)).once('error', fail)
          .once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text, askedAt, answeredAt: performance.now() }));
      });
      request.end(sent);
    });
  }
}

const noAnswer = (error: unknown, askedAt: number): NoAnswer => {
  const { code, message } = error as NodeJS.ErrnoException;
  return new NoAnswer(askedAt, performance.now(), code ?? message);
};

export const revisionOf = ({ headers }: Reply): number => Number(headers['x-toolcrib-revision']);
