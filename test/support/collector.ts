import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface CollectedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: Record<string, string | number | boolean>;
  /** 2 for a failed one. */
  readonly status: number;
}

/** A collector of traces: OTLP over HTTP. */
export interface Collector {
  readonly url: string;
  /** What it does with those who send. */
  mode: 'takes' | 'refuses' | 'hangs';
  /** As they came, whatever their spelling. */
  readonly received: { readonly path: string; readonly headers: http.IncomingHttpHeaders; readonly body: Buffer }[];
  /** Of what came as JSON. */
  spans(): CollectedSpan[];
  resources(): Record<string, unknown>[];
  /** Those of a trace, once there is one that fits. */
  traceWith(traceId: string, fits: (span: CollectedSpan) => boolean): Promise<CollectedSpan[]>;
  stop(): Promise<void>;
}

const valuesOf = (list: any[] = []): Record<string, any> =>
  Object.fromEntries(list.map(({ key, value }) => [key, value.intValue === undefined ? Object.values(value)[0] : Number(value.intValue)]));

export async function startCollector(): Promise<Collector> {
  const received: Collector['received'] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      if (collector.mode === 'hangs') return;
      response.writeHead(collector.mode === 'takes' ? 200 : 400, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sent = (): any[] => received.filter(({ headers }) => headers['content-type'] === 'application/json').flatMap(({ body }) => JSON.parse(body.toString('utf8')).resourceSpans);
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'takes',
    received,
    spans: () => sent().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }: any) => spans)).map(({ name, kind, traceId, spanId, parentSpanId = '', attributes, status }) => ({ name, kind, traceId, spanId, parentSpanId, attributes: valuesOf(attributes), status: status?.code ?? 0 })),
    resources: () => sent().map(({ resource }) => valuesOf(resource.attributes)),
    traceWith: async (traceId, fits) => {
      for (let tries = 0; tries < 200; tries += 1) {
        const found = collector.spans().filter((span) => span.traceId === traceId);
        if (found.some(fits)) return found;
        await sleep(50);
      }
      throw new Error(`no such span came: ${JSON.stringify(collector.spans())}`);
    },
    stop: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
  return collector;
}
