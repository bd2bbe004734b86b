// A minute of the soak, once in fair weather and once with faults: `npm run soak`, `npm run soak -- 300`, or SECONDS=300.
import { spawn } from 'node:child_process';

const seconds = process.argv[2] ?? process.env.SECONDS ?? '60';
if (!/^[1-9]\d{0,4}$/u.test(seconds)) {
  console.error('say how many seconds, a whole number');
  process.exit(64);
}
const tests = spawn(process.execPath, ['test/support/run-tests.mjs', 'test/e2e/soak.spec.ts'], { stdio: 'inherit', env: { ...process.env, SOAK_SECONDS: seconds } });
tests.once('exit', (code) => process.exit(code ?? 1));
