import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepSecret, overhear } from './secrets.js';

export interface StreamEvent {
  readonly event: string;
  readonly id: string;
  readonly data: any;
}

/** One client of a stream of events, on a connection of its own. */
export interface EventClient {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: StreamEvent[];
  /** All that came, as it came. */
  readonly text: () => string;
  readonly isEnded: () => boolean;
  readonly close: () => void;
}

const EVENT = /^event: (\w+)\nid: (\d+)\ndata: (.*)$/u;

/** Resolves once there are headers. */
export async function openStream(url: string, key: string, headers: Record<string, string> = {}): Promise<EventClient> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    http.get(`${url}/v1/changes`, { agent: false, headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers } }, resolve).on('error', reject);
  });
  const events: StreamEvent[] = [];
  let text = '';
  let rest = '';
  let ended = false;
  keepSecret(key);
  overhear('a stream of changes', () => text);
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(0, 10_000);
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const [, event = '', id = '', data = ''] of blocks.flatMap((block) => [EVENT.exec(block) ?? []])) if (event !== '') events.push({ event, id, data: JSON.parse(data) });
  });
  response.on('error', () => undefined).on('close', () => (ended = true));
  return { status: response.statusCode ?? 0, headers: response.headers, events, text: () => text, isEnded: () => ended, close: () => response.destroy() };
}

/** Waits for what ought to happen; throws when it does not. */
export async function until(holds: () => boolean, what: string, limitMs = 20_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`did not happen: ${what}`);
    await sleep(5);
  }
}
