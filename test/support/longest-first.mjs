// The order of the suites where no run before has left its times: those that take minutes first, so that no worker is left with one at
// the end. Two that mostly wait stand apart, beside one that works.
import { createRequire } from 'node:module';
import path from 'node:path';

const { default: TestSequencer } = createRequire(createRequire(import.meta.url).resolve('jest'))('@jest/test-sequencer');

const LONGEST = [
  'test/image/image.spec.ts',
  'test/e2e/cross-tenant.spec.ts',
  'test/e2e/upgrade.spec.ts',
  'test/e2e/failures-redis.spec.ts',
  'test/cases/cases.http-even.spec.ts',
  'test/e2e/process.spec.ts',
  'test/cases/cases.http-odd.spec.ts',
  'test/e2e/traces.spec.ts',
  'test/e2e/failures-replica.spec.ts',
  'test/e2e/soak.spec.ts',
  'test/e2e/authorization.spec.ts',
  'test/e2e/failures-postgres.spec.ts',
  'test/e2e/people.spec.ts',
  'test/e2e/changes.spec.ts',
  'test/e2e/secrets.spec.ts',
  'test/e2e/migrations.spec.ts',
  'test/e2e/hostile-process.spec.ts',
  'test/e2e/concurrency.spec.ts',
  'test/property/invariants.spec.ts',
].map((file) => path.resolve(file));

const rankOf = ({ path: file }) => {
  const at = LONGEST.indexOf(file);
  return at === -1 ? LONGEST.length : at;
};

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((a, b) => rankOf(a) - rankOf(b));
  }
}
