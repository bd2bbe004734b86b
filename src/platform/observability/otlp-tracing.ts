import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Span, TextMapGetter, Tracer } from '@opentelemetry/api';
import { DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, diag, trace } from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { AppError } from '../errors/app-error.js';
import type { Logger } from './logger.js';
import type { Protocol } from './open-tracing.js';
import type { Tally } from './tallies.js';
import type { Attributes, Ended, Tell } from './tracing.js';
import { Tracing } from './tracing.js';

/** Of the 10 s in which the service ends, after the 8 s in which requests may. */
const CLOSE_MS = 1_000;
const WARN_EVERY_MS = 60_000;

/** A request whose span has begun. */
interface Traced {
  readonly span: Span;
  readonly context: Context;
  /** What has left its span of no length already. */
  readonly told: Set<string>;
  isEnded: boolean;
}

/** Where in a request the work is. */
interface Place {
  readonly traced: Traced;
  readonly context: Context;
}

const HEADERS: TextMapGetter<IncomingMessage['headers']> = { keys: (headers) => Object.keys(headers), get: (headers, name) => headers[name] };

/**
 * Spans by OpenTelemetry's own SDK, which reads the rest of its variables by itself. Finished spans wait in a queue that is
 * bounded, and are sent in batches; while the collector is away they are let go. Nothing global is set but where the SDK tells of
 * its own faults.
 */
export class OtlpTracing extends Tracing {
  override readonly isOn = true;
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;
  private readonly places = new AsyncLocalStorage<Place>();
  private readonly requests = new WeakMap<IncomingMessage, Traced>();
  private readonly propagator = new W3CTraceContextPropagator();

  constructor(protocol: Protocol, logger: Logger) {
    super();
    const warn = seldom((reason) => {
      logger.warn({ reason }, 'traces are not sent as they should be');
    });
    // Values of variables stand in quotes.
    const told = (message: string): void => warn(message.replaceAll(/"[^"]*"|'[^']*'/gu, '…'));
    const silent = (): void => undefined;
    diag.setLogger({ error: told, warn: told, info: silent, debug: silent, verbose: silent }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    // What could not be sent is told once already.
    setGlobalErrorHandler(silent);
    const own = resourceFromAttributes({ 'service.name': 'toolcrib', 'service.instance.id': randomUUID() });
    this.provider = new BasicTracerProvider({
      resource: defaultResource().merge(own).merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(telling(protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter(), warn))],
    });
    this.tracer = this.provider.getTracer('toolcrib');
  }

  override serve(request: IncomingMessage, response: ServerResponse, work: () => void): void {
    const method = request.method ?? '';
    const from = this.propagator.extract(ROOT_CONTEXT, request.headers, HEADERS);
    const span = this.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }, from);
    const traced: Traced = { span, context: trace.setSpan(from, span), told: new Set(), isEnded: false };
    request.traceId = span.spanContext().traceId;
    this.requests.set(request, traced);
    // One that nobody has noted: refused in front, or left by its caller.
    response.once('close', () => {
      span.setAttribute('http.response.status_code', response.statusCode);
      end(traced);
    });
    this.places.run({ traced, context: traced.context }, work);
  }

  override within<T>(request: IncomingMessage, work: () => T): T {
    const traced = this.requests.get(request);
    return traced === undefined ? work() : this.places.run({ traced, context: traced.context }, work);
  }

  override note(attributes: () => Attributes): void {
    this.recording()?.traced.span.setAttributes(attributes());
  }

  override end(request: IncomingMessage, { method, route, status, tenant }: Ended): void {
    const traced = this.requests.get(request);
    if (traced === undefined) return;
    const { span } = traced;
    span.updateName(`${method} ${route}`);
    span.setAttributes({ 'http.route': route, 'http.response.status_code': status, ...(tenant !== null && { 'toolcrib.tenant': tenant }) });
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    end(traced);
  }

  override span<T>(name: string, attributes: Attributes, work: (tell: Tell) => Promise<T>): Promise<T> {
    const place = this.recording();
    if (place === null) return work(() => undefined);
    const span = this.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, place.context);
    return this.places.run({ traced: place.traced, context: trace.setSpan(place.context, span) }, async () => {
      try {
        return await work((more) => span.setAttributes(more));
      } catch (error) {
        // Never its message: a driver's may hold values.
        span.setAttribute('error.type', nameOf(error)).setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  }

  override told(tally: Tally, name: string, attributes: Attributes): Tally {
    const kind = `${name} ${JSON.stringify(attributes)}`;
    return {
      inc: () => {
        tally.inc();
        const place = this.recording();
        if (place === null || place.traced.told.has(kind)) return;
        place.traced.told.add(kind);
        this.tracer.startSpan(name, { attributes }, place.context).end();
      },
    };
  }

  override async close(): Promise<void> {
    await Promise.race([this.provider.shutdown().catch(() => undefined), sleep(CLOSE_MS, undefined, { ref: false })]);
  }

  /** Null outside of a request, in one that is not sampled, and after its end: timers that it has left behind are not its work. */
  private recording(): Place | null {
    const place = this.places.getStore();
    return place === undefined || place.traced.isEnded || !place.traced.span.isRecording() ? null : place;
  }
}

function end(traced: Traced): void {
  if (traced.isEnded) return;
  traced.isEnded = true;
  traced.span.end();
}

const nameOf = (error: unknown): string => {
  if (error instanceof AppError) return error.code;
  return error instanceof Error ? error.name : 'Error';
};

/** The exporter, which says why something could not be sent. */
function telling(exporter: SpanExporter, warn: (reason: string) => void): SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) warn(result.error?.message ?? 'the collector does not take them');
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** The first of a minute alone. */
function seldom(tell: (reason: string) => void): (reason: string) => void {
  let last = -Infinity;
  return (reason) => {
    if (performance.now() - last < WARN_EVERY_MS) return;
    last = performance.now();
    tell(reason);
  };
}
