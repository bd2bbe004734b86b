import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { isObject } from './core/json.js';
import type { ErrorCode } from './platform/errors/app-error.js';
import { byStatus, problemResponse } from './platform/http/api-problems.dto.js';
import { ACCESS_RULE } from './platform/http/public.decorator.js';
import type { AccessRule } from './tenancy/access.js';

const DESCRIPTION = `The one place that decides which tools an AI agent may see and call.

Authorise with a key: a tenant's own, or the platform key together with \`X-Tenant-Id\`. People may bring a token of the issuer that the service is configured for. Errors are \`application/problem+json\` (RFC 9457).
Codes of errors, reasons and warnings may be added at any time: take one that you do not know by its status, or as a refusal.
A story to click through: make a tenant and a key, sync a catalog, save an agent, decide, look at its editor view, switch a tool off, decide again.`;

/** Of the package, so that one number speaks for the program and its API (ADR 0019). */
const { version: VERSION } = JSON.parse(readFileSync(path.join(import.meta.dirname, '../package.json'), 'utf8')) as { version: string };

/** What any operation under \`/v1\` may answer. */
const ALWAYS: readonly ErrorCode[] = ['BAD_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'INTERNAL', 'OVERLOADED', 'DATABASE_UNAVAILABLE'];
/** What those of a tenant may answer besides. */
const OF_TENANT: readonly ErrorCode[] = ['TENANT_REQUIRED', 'TENANT_NOT_FOUND', 'TOO_MANY_REQUESTS'];
const WITH_BODY: readonly ErrorCode[] = ['INVALID_JSON', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'INVALID_REQUEST', 'LIMIT_EXCEEDED'];
const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

/** What a link is called: the operation that it leads to, and the member of the answer that names its object. */
const linkNameFactory = (controller: string, method: string, field: string): string => `${controller}_${method}_from_${field.replaceAll('/', '_')}`;

type Json = Record<string, unknown>;

/** The document of the running application: what Swagger shows, what is committed, and what the responses are tested against. */
export function buildDocument(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Toolcrib')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'opaque', description: 'One key is enough: a tenant’s own (`POST /v1/keys` shows it once), or the platform key.' }, 'key')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key in another header; leave it empty when the first is filled.' }, 'keyHeader')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Tenant-Id', description: 'For the platform key alone: the tenant that it acts on.' }, 'tenant')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A person’s access token, where the service is configured for its issuer (OpenID Connect): it says which tenant and which scopes, and opens the same as a key with these.' }, 'person')
    .addTag('tenants', 'for the platform key alone')
    .addTag('keys', 'a tenant’s keys')
    .addTag('settings', 'a tenant’s settings')
    .addTag('tools', 'what sources declare and ops override')
    .addTag('agents', 'which tools each agent is given')
    .addTag('history', 'who changed what, and how to take it back')
    .addTag('changes', 'what changed, told as it happens')
    .addTag('decisions', 'what runtimes ask')
    .addTag('health', 'for the platform that runs this');
  const document = SwaggerModule.createDocument(app, builder.build(), { linkNameFactory });
  const rules = accessRules(app);
  for (const item of Object.values(document.paths)) {
    for (const method of METHODS) if (item[method] !== undefined) describeAccess(item[method] as unknown as Json, rules);
  }
  closeRequestSchemas(document);
  return toJsonSchema(document) as OpenAPIObject;
}

/** Swagger at `/docs` and the document at `/openapi.json`. */
export function serveDocument(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => buildDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    customSiteTitle: 'Toolcrib',
    swaggerOptions: { defaultModelsExpandDepth: -1, persistAuthorization: true, displayRequestDuration: true },
  });
}

/** What each route asks of its caller, by the id of its operation: the very rule that the guard goes by. */
function accessRules(app: INestApplication): ReadonlyMap<string, AccessRule | 'public'> {
  const types = [...app.get(ModulesContainer).values()].flatMap(({ controllers }) => [...controllers.values()]).map(({ metatype }) => metatype as new () => object);
  const ofMethod = (type: new () => object, name: string): unknown => {
    const handler: unknown = (type.prototype as Json)[name];
    return (typeof handler === 'function' && Reflect.getMetadata(ACCESS_RULE, handler)) || Reflect.getMetadata(ACCESS_RULE, type);
  };
  return new Map(types.flatMap((type) => Object.getOwnPropertyNames(type.prototype).map((name) => [`${type.name}_${name}`, ofMethod(type, name) as AccessRule | 'public'])));
}

/** `x-access` says for programs who is let in: `public`, `platform`, `any-key`, or one of some scopes. */
function describeAccess(operation: Json, rules: ReturnType<typeof accessRules>): void {
  const rule = rules.get(operation['operationId'] as string);
  operation['x-access'] = rule;
  if (rule === 'public') return;
  const platformOnly = rule === 'platform';
  operation['security'] = platformOnly ? [{ key: [] }, { keyHeader: [] }] : [{ key: [] }, { keyHeader: [] }, { key: [], tenant: [] }, { person: [] }];
  const responses = operation['responses'] as Json;
  const own = new Map(Object.entries(responses).map(([status, response]) => [status, codesIn(response)]));
  const common = [...ALWAYS, ...(platformOnly ? [] : OF_TENANT), ...(operation['requestBody'] === undefined ? [] : WITH_BODY)];
  for (const [status, codes] of byStatus(common)) {
    responses[status] = problemResponse([...new Set([...(own.get(String(status)) ?? []), ...codes])]);
  }
}

/** The codes that a decorator named already, read back from its description. */
const codesIn = (response: unknown): ErrorCode[] => {
  const { description } = response as { description?: string };
  return [...(description ?? '').matchAll(/`([A-Z_]+)`:/gu)].map(([, code]) => code as ErrorCode);
};

/** Bodies take no unknown members: the document says so too. */
function closeRequestSchemas(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Json>;
  const queue = Object.values(document.paths).flatMap((item) => METHODS.map((method) => item[method]?.requestBody)).flatMap(referencesIn);
  const seen = new Set<string>();
  for (const name of queue) {
    if (seen.has(name)) continue;
    seen.add(name);
    const schema = schemas[name];
    if (schema?.['type'] === 'object' && schema['additionalProperties'] === undefined) schema['additionalProperties'] = false;
    queue.push(...referencesIn(schema));
  }
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => (key === '$ref' && typeof member === 'string' ? [member.replace('#/components/schemas/', '')] : referencesIn(member)));
}

/** OpenAPI 3.1 is JSON Schema: \`nullable\` becomes a type, and \`example\` stays what tools show. */
function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema);
  if (!isObject(value)) return value;
  const { nullable, ...rest } = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, key === 'example' ? member : toJsonSchema(member)]));
  if (nullable !== true) return nullable === undefined ? rest : { ...rest, nullable };
  return withNull(rest);
}

function withNull(schema: Json): Json {
  const { type, enum: values, $ref, allOf, description, example, ...rest } = schema;
  if (type === undefined && ($ref !== undefined || allOf !== undefined)) {
    return { description, ...(example === undefined ? {} : { example }), ...rest, anyOf: [$ref === undefined ? { allOf } : { $ref }, { type: 'null' }] };
  }
  const listed = Array.isArray(values) ? { enum: [...new Set([...(values as unknown[]), null])] } : {};
  return { ...schema, ...listed, type: typeof type === 'string' ? [type, 'null'] : type };
}
