import type { IncomingMessage } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AppParts } from './app.module.js';
import { AppModule } from './app.module.js';
import { AnswerMemo } from './decision/answer-memo.js';
import { openFastRoad } from './decision/fast-road.js';
import { acceptJson } from './platform/http/json-body.js';
import { observeRequests, requestIdOf } from './platform/http/request-context.js';
import { NestLogger } from './platform/observability/logger.js';
import { PolicyViews } from './policy/policy-views.js';
import { AccessGuard } from './tenancy/access.guard.js';

/** Headers and body of one request must be there by then, however slow the client. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longest name (128), escaped. */
const MAX_PARAM_LENGTH = 1_024;

/** The whole service, not listening yet. */
export async function createApp(parts: AppParts): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    genReqId: (request: IncomingMessage) => requestIdOf(request),
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true },
    forceCloseConnections: 'idle',
    return503OnClosing: true,
  });
  const fastify = adapter.getInstance();
  acceptJson(fastify, parts.config.limits);
  observeRequests(fastify, parts.logger, parts.metrics);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.with(parts), adapter, { logger: new NestLogger(parts.logger), bodyParser: false, abortOnError: false });
  openFastRoad(fastify, { guard: app.get(AccessGuard), views: app.get(PolicyViews), memo: app.get(AnswerMemo), metrics: parts.metrics });
  return app;
}
