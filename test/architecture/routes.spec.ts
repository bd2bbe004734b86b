import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ModulesContainer } from '@nestjs/core';
import { ACCESS_RULE } from '../../src/platform/http/public.decorator.js';
import { DATABASES } from '../support/databases.js';
import type { TestService } from '../support/test-service.js';
import { startTestService } from '../support/test-service.js';

const METHOD_METADATA = 'method';

describe('routes', () => {
  let service: TestService;
  beforeAll(async () => {
    const [kind] = DATABASES;
    if (kind === undefined) throw new Error('no database');
    service = await startTestService(kind);
  });
  afterAll(() => service.close());

  it('each say who may use them, and only health and metrics are open', () => {
    const controllers = [...service.app.get(ModulesContainer).values()].flatMap((module) => [...module.controllers.values()]);
    const open: string[] = [];
    for (const { metatype } of controllers) {
      const type = metatype as new () => object;
      for (const name of Object.getOwnPropertyNames(type.prototype)) {
        const handler: unknown = (type.prototype as Record<string, unknown>)[name];
        if (typeof handler !== 'function' || Reflect.getMetadata(METHOD_METADATA, handler) === undefined) continue;
        const rule: unknown = Reflect.getMetadata(ACCESS_RULE, handler) ?? Reflect.getMetadata(ACCESS_RULE, type);
        expect({ route: `${type.name}.${name}`, ruled: rule !== undefined }).toEqual({ route: `${type.name}.${name}`, ruled: true });
        if (rule === 'public') open.push(`${type.name}.${name}`);
      }
    }
    expect(open.sort()).toEqual(['HealthController.live', 'HealthController.ready', 'HealthController.scrape']);
  });
});
