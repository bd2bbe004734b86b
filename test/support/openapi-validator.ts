import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import type { OpenAPIObject } from '@nestjs/swagger';

interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly path: string;
}

type Responses = Record<string, { content?: Record<string, { schema?: object }>; headers?: Record<string, unknown> }>;

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** Every `$ref` of the document, made to point into the document as the validator knows it. */
const rooted = (schema: object): object => JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi.json#/components/')) as object;

const OF_THE_CONNECTION = new Set([408, 431]);

/** Holds a response against the document: its status, its content type and its body. */
export class OpenApiValidator {
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  private readonly routes: readonly Route[];
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(private readonly document: OpenAPIObject) {
    this.ajv.addSchema({ $id: 'openapi.json', components: document.components });
    const paths = Object.entries(document.paths).flatMap(([path, item]) => METHODS.filter((method) => method in item).map((method) => ({ method, path })));
    // A path of words alone goes before one with parameters.
    this.routes = paths
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
      .map(({ method, path }) => ({ method, path, pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/gu, '[^/]+')}$`, 'u') }));
  }

  /** Throws where the document does not say what was answered. A route that is not there has no document to hold to. */
  check(method: string, url: string, status: number, contentType: string | undefined, body: unknown): void {
    const [path = ''] = url.split('?');
    const route = this.routes.find((candidate) => candidate.method === method && candidate.pattern.test(path));
    if (route === undefined) return;
    const responses = (this.document.paths[route.path] as Record<string, { responses: Responses }>)[method]?.responses ?? {};
    const where = `${method.toUpperCase()} ${route.path} ${status}`;
    // About the connection, whatever was asked over it: ADR 20.
    if (OF_THE_CONNECTION.has(status)) return;
    const response = responses[String(status)];
    if (response === undefined) throw new Error(`${where} is not in the document`);
    if (status === 204 || status === 304) {
      if (contentType !== undefined) throw new Error(`${where} has no body to be of a type`);
      return;
    }
    const [type = ''] = (contentType ?? '').split(';');
    const schema = response.content?.[type]?.schema;
    if (schema === undefined) throw new Error(`${where} does not answer with \`${type}\` by the document`);
    if (type === 'text/plain' || type === 'text/event-stream') return;
    const validate = this.validatorOf(where, schema);
    if (!validate(body)) throw new Error(`${where}: ${this.ajv.errorsText(validate.errors)}`);
  }

  private validatorOf(where: string, schema: object): ValidateFunction {
    const known = this.compiled.get(where) ?? this.ajv.compile(rooted(schema));
    this.compiled.set(where, known);
    return known;
  }
}
