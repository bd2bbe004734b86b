import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.js';
import { openTracing } from './open-tracing.js';
import { NO_TRACING } from './tracing.js';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const URL = 'http://127.0.0.1:1';

async function open(environment: Record<string, string>): Promise<{ isOn: boolean; told: string[] }> {
  const told: string[] = [];
  const tracing = await openTracing(environment, createLogger('info', { write: (line) => void told.push(JSON.parse(line).reason) }));
  await tracing.close();
  return { isOn: tracing !== NO_TRACING && tracing.isOn, told };
}

describe('whether there are traces', () => {
  it.each([
    ['nothing is said', {}],
    ['no endpoint is named', { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_EXPORTER: 'otlp' }],
    ['the endpoint is empty', { [ENDPOINT]: ' ' }],
    ['the SDK is disabled', { [ENDPOINT]: URL, OTEL_SDK_DISABLED: 'TRUE' }],
    ['nothing is to be exported', { [ENDPOINT]: URL, OTEL_TRACES_EXPORTER: 'none' }],
  ])('none where %s', async (_, environment) => {
    expect(await open(environment as Record<string, string>)).toEqual({ isOn: false, told: [] });
  });

  it.each([
    [{ [ENDPOINT]: URL }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: URL, OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' }],
    [{ [ENDPOINT]: URL, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }],
  ])('some with %j', async (environment) => {
    expect(await open(environment as Record<string, string>)).toEqual({ isOn: true, told: [] });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT must begin with http:// or https://', { [ENDPOINT]: 'secret-host:4317' }],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must begin with http:// or https://', { [ENDPOINT]: URL, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'grpc://secret-host' }],
    ['OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json', { [ENDPOINT]: URL, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    ['OTEL_TRACES_EXPORTER must be otlp or none', { [ENDPOINT]: URL, OTEL_TRACES_EXPORTER: 'zipkin' }],
  ])('none, and a word on why, never with a value: %s', async (reason, environment) => {
    expect(await open(environment as Record<string, string>)).toEqual({ isOn: false, told: [reason] });
  });
});
