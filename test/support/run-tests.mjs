// Runs the whole suite: finds or starts PostgreSQL for the suites that are about it, and names what was not run.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { postgresHome, startPostgres } from './postgres-server.mjs';

const notRun = [];
let server = null;
if (!process.env.TEST_DATABASE_URL) {
  const home = postgresHome();
  if (home === null) notRun.push('the suites on PostgreSQL: set TEST_DATABASE_URL, or install `postgres` and `initdb`');
  else server = await startPostgres(home);
}
if (notRun.length > 0 && process.env.REQUIRE_SERVICES === '1') {
  console.error(`not run, though REQUIRE_SERVICES=1: ${notRun.join('; ')}`);
  process.exit(1);
}
const jest = spawn(process.execPath, ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ...(server && { TEST_DATABASE_URL: server.url }) },
});
const code = await new Promise((resolve) => jest.once('exit', (status) => resolve(status ?? 1)));
await server?.stop();
if (!existsSync('../shared/catalogs/mcp')) notRun.push('the tool lists of real MCP servers: they lie in ../shared/catalogs/mcp where there are any');
for (const line of notRun) console.log(`not run: ${line}`);
process.exit(code);
