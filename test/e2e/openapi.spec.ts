import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildDocument } from '../../src/openapi.js';
import { isObject } from '../../src/core/json.js';
import { DATABASES } from '../support/databases.js';
import type { TestService } from '../support/test-service.js';
import { startTestService } from '../support/test-service.js';

type Json = Record<string, any>;

describe('the OpenAPI document', () => {
  let service: TestService;
  let document: Json;
  beforeAll(async () => {
    const [kind] = DATABASES;
    if (kind === undefined) throw new Error('no database');
    service = await startTestService(kind);
    document = JSON.parse(JSON.stringify(buildDocument(service.app)));
  });
  afterAll(() => service.close());

  const operations = (): [string, Json][] =>
    Object.entries<Json>(document['paths']).flatMap(([path, item]) => Object.entries<Json>(item).map(([method, operation]): [string, Json] => [`${method} ${path}`, operation]));

  it('is the committed one: `npm run openapi` rewrites that', () => {
    expect(document).toEqual(JSON.parse(readFileSync('openapi/openapi.json', 'utf8')));
  });

  it('gives every operation a summary and lists its errors', () => {
    for (const [name, operation] of operations()) {
      expect({ name, summary: operation['summary'] }).toEqual({ name, summary: expect.stringMatching(/\S/u) });
      if (!name.includes('/v1/')) continue;
      expect(Object.keys(operation['responses'])).toEqual(expect.arrayContaining(['400', '401', '403', '500', '503']));
      if (operation['requestBody'] !== undefined) expect(Object.keys(operation['responses'])).toEqual(expect.arrayContaining(['400', '413', '415', '422']));
    }
  });

  it('asks for a key everywhere but where none is needed', () => {
    const open = operations().filter(([, { security }]) => security === undefined).map(([name]) => name);
    expect(open.sort()).toEqual(['get /health/live', 'get /health/ready', 'get /metrics']);
  });

  it('describes every field, with an example', () => {
    const lacking: string[] = [];
    const visit = (schema: unknown, at: string): void => {
      if (!isObject(schema)) return;
      for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Json)) {
        const field = `${at}.${name}`;
        const told = isObject(member) && (typeof member['description'] === 'string' || '$ref' in member || 'allOf' in member);
        const nested = JSON.stringify(member).includes('$ref') || (isObject(member) && 'properties' in member);
        if (!told || (!nested && isObject(member) && !('example' in member))) lacking.push(field);
        visit(member, field);
      }
    };
    for (const [name, schema] of Object.entries(document['components']['schemas'])) visit(schema, name);
    for (const [name, operation] of operations()) visit(operation['requestBody']?.content?.['application/json']?.schema, name);
    expect(lacking).toEqual([]);
  });
});
