import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { readCases } from '../support/case-file.js';
import { runCase } from '../support/case-runner.js';
import { DATABASES } from '../support/databases.js';
import { HttpWorld } from '../support/http-world.js';
import type { TestService } from '../support/test-service.js';
import { startTestService } from '../support/test-service.js';

describe.each(DATABASES)('cases over HTTP, $name', (kind) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.close());

  it.each(readCases().map((one) => [one.file, one] as const))('%s', async (_, one) => {
    await runCase(one, await HttpWorld.open(service));
  });
});
