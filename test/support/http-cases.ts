import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { readCases } from './case-file.js';
import { runCase } from './case-runner.js';
import { DATABASES } from './databases.js';
import { HttpWorld } from './http-world.js';
import type { TestService } from './test-service.js';
import { startTestService } from './test-service.js';

/** Half of the cases, so that both workers of a machine have some: every one on each database. */
export function casesOverHttp(half: 0 | 1): void {
  const cases = readCases().filter((_, i) => i % 2 === half).map((one) => [one.file, one] as const);
  describe.each(DATABASES)('cases over HTTP, $name', (kind) => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(kind);
    });
    afterAll(() => service.close());

    it.each(cases)('%s', async (_, one) => {
      await runCase(one, await HttpWorld.open(service));
    });
  });
}
