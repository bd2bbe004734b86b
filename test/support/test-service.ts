import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import supertest from 'supertest';
import { createApp } from '../../src/create-app.js';
import { buildDocument } from '../../src/openapi.js';
import type { Config } from '../../src/platform/config/config.js';
import { parseConfig } from '../../src/platform/config/config.js';
import { createLogger } from '../../src/platform/observability/logger.js';
import { DatabaseLooks } from '../../src/platform/database/looks.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { SharedRedis } from '../../src/platform/redis/redis.js';
import type { Scope } from '../../src/tenancy/scope.js';
import { SCOPES } from '../../src/tenancy/scope.js';
import type { DatabaseKind, TestDatabase } from './databases.js';
import { PATIENT } from './process.js';
import { OpenApiValidator } from './openapi-validator.js';
import { keepCredentials, keepPassword, keepSecret, overhear, overhearAnswer } from './secrets.js';

export const PLATFORM_KEY = 'the-platform-key-of-the-tests-0123456789';

export interface TestService extends TestDatabase {
  readonly app: NestFastifyApplication;
  readonly config: Config;
  readonly logged: string[];
  readonly document: Record<string, any>;
  /** Every answer is held against the document. */
  readonly contract: OpenApiValidator;
}

/** The whole service on a new database, answering supertest. */
export async function startTestService(kind: DatabaseKind, environment: Record<string, string> = {}): Promise<TestService> {
  return serve(await kind.open(), environment);
}

/** Another replica of a service: its own caches on the same database. */
export const startReplica = ({ database }: TestService, environment: Record<string, string> = {}): Promise<TestService> => serve({ database, close: () => Promise.resolve() }, environment);

async function serve({ database, close }: TestDatabase, environment: Record<string, string>): Promise<TestService> {
  const config = parseConfig({ TOOLCRIB_PLATFORM_KEY: PLATFORM_KEY, ...PATIENT, ...environment });
  const logged: string[] = [];
  keepSecret(PLATFORM_KEY);
  keepPassword(environment['REDIS_URL']);
  overhear('the log of the service', () => logged.join(''));
  const logger = createLogger('trace', { write: (line: string) => void logged.push(line) });
  const metrics = new Metrics();
  const redis = config.redisUrl === null ? undefined : new SharedRedis(config.redisUrl, logger, metrics);
  const app = await createApp({ config, platformKey: PLATFORM_KEY, database, looks: new DatabaseLooks(database.pool), logger, metrics, ...(redis && { redis }) });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  return { app, config, database, logged, ...described(app), close: () => app.close().then(() => redis?.close()).then(close) };
}

let known: Pick<TestService, 'document' | 'contract'> | undefined;

/** Made for the first service of a file: it says the same of every one, whatever it is started with, and its schemas are dear to compile. */
function described(app: NestFastifyApplication): Pick<TestService, 'document' | 'contract'> {
  if (known !== undefined) return known;
  const document = buildDocument(app);
  known = { document, contract: new OpenApiValidator(document) };
  return known;
}

export type Json = Record<string, unknown>;

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: any;
  readonly text: string;
}

/** What a caller needs of the service. */
export type Served = Pick<TestService, 'app' | 'contract'>;

/** A caller with one key. */
export class Caller {
  constructor(
    private readonly service: Served,
    private readonly headers: Record<string, string>,
  ) {
    keepCredentials(headers);
  }

  async send(method: 'get' | 'put' | 'post' | 'patch' | 'delete', path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    let request = supertest(this.service.app.getHttpServer())[method](path).set({ ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...this.headers, ...headers });
    if (body !== undefined) request = request.send(typeof body === 'string' ? body : JSON.stringify(body));
    const { status, headers: got, text } = await request.buffer(true).parse((response, done) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => done(null, Buffer.concat(chunks).toString('utf8')));
    }).then((response) => ({ status: response.status, headers: response.headers, text: String(response.body) }));
    keepCredentials(headers);
    overhearAnswer(method, path, status, text);
    const answered = text.startsWith('{') ? JSON.parse(text) : null;
    if (path === '/v1/keys' && method === 'post') keepSecret(answered?.key);
    this.service.contract.check(method, path, status, got['content-type'], answered);
    return { status, headers: got, text, body: answered };
  }

  get = (path: string, headers?: Record<string, string>): Promise<Answer> => this.send('get', path, undefined, headers);
  post = (path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> => this.send('post', path, body, headers);

  /** Reads the current ETag, where there is one, and sends it along. */
  async write(method: 'put' | 'patch', path: string, body: unknown): Promise<Answer> {
    const { headers } = await this.get(path);
    return this.send(method, path, body, headers['etag'] === undefined ? {} : { 'if-match': headers['etag'] });
  }
}

export const platform = (service: Served, tenant?: string): Caller =>
  new Caller(service, { authorization: `Bearer ${PLATFORM_KEY}`, ...(tenant === undefined ? {} : { 'x-tenant-id': tenant }) });

let tenants = 0;

export interface TestTenant {
  readonly tenantId: string;
  /** With every scope. */
  readonly caller: Caller;
  /** Another key of the tenant. */
  withScopes(...scopes: Scope[]): Promise<Caller>;
}

const newTenantId = (): string => `t${(tenants += 1)}-${Math.random().toString(36).slice(2, 10)}`;

/** A tenant of its own for one test. */
export async function newTenant(service: Served, tenantId = newTenantId()): Promise<TestTenant> {
  const created = await platform(service).post('/v1/tenants', { tenantId, name: `tenant ${tenantId}` });
  if (created.status !== 201) throw new Error(created.text);
  const withScopes = async (...scopes: Scope[]): Promise<Caller> => {
    const { body } = await platform(service, tenantId).post('/v1/keys', { name: scopes.join(' '), scopes });
    return new Caller(service, { authorization: `Bearer ${body.key}` });
  };
  return { tenantId, caller: await withScopes(...SCOPES), withScopes };
}
