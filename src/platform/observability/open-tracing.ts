import type { Logger } from './logger.js';
import type { Tracing } from './tracing.js';
import { NO_TRACING } from './tracing.js';

/** OTLP over HTTP in either spelling; gRPC would bring more code than it is worth. */
export const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Traces as the standard `OTEL_*` variables say: on where an endpoint is named and nothing says otherwise. What can not be used
 * is told once and leaves them off: nobody's decisions wait for a collector. The libraries are loaded only where they are on.
 */
export async function openTracing(environment: Environment, logger: Logger): Promise<Tracing> {
  // The first that is set goes before the others, an empty one is not.
  const read = (...names: readonly string[]): readonly [name: string, value: string] | undefined =>
    names.map((name) => [name, environment[name]?.trim() ?? ''] as const).find(([, value]) => value !== '');
  const endpoint = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const [, exporter] = read('OTEL_TRACES_EXPORTER') ?? ['', 'otlp'];
  const [, disabled] = read('OTEL_SDK_DISABLED') ?? ['', 'false'];
  if (endpoint === undefined || exporter === 'none' || disabled.toLowerCase() === 'true') return NO_TRACING;
  const [named, spelling] = read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL') ?? ['', PROTOCOLS[0]];
  const protocol = PROTOCOLS.find((known) => known === spelling);
  if (exporter !== 'otlp') return unusable(logger, 'OTEL_TRACES_EXPORTER must be otlp or none');
  if (protocol === undefined) return unusable(logger, `${named} must be one of ${PROTOCOLS.join(', ')}`);
  if (!isHttp(endpoint[1])) return unusable(logger, `${endpoint[0]} must begin with http:// or https://`);
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing(protocol, logger);
}

function unusable(logger: Logger, reason: string): Tracing {
  logger.warn({ reason }, 'traces are off');
  return NO_TRACING;
}

const isHttp = (text: string): boolean => URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol);
