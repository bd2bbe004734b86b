// Runs the whole suite: finds or starts PostgreSQL and Redis for the suites that are about them, and names what was not run.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { makeDataFolder } from './made-data-folder.mjs';
import { oldCommits } from './old-builds.mjs';
import { postgresHome, startPostgres } from './postgres-server.mjs';
import { redisHome, startRedis } from './redis-server.mjs';

const SERVICES = [
  { name: 'PostgreSQL', variable: 'TEST_DATABASE_URL', programs: '`postgres` and `initdb`', home: postgresHome(), start: startPostgres },
  { name: 'Redis', variable: 'TEST_REDIS_URL', programs: '`redis-server`', home: redisHome(), start: startRedis },
];

const notRun = [];
const servers = [];
const environment = {};
for (const { name, variable, programs, home, start } of SERVICES) {
  if (process.env[variable]) continue;
  if (home === null) {
    notRun.push(`the suites on ${name}: set ${variable}, or install ${programs}`);
    continue;
  }
  const server = await start(home);
  servers.push(server);
  environment[variable] = server.url;
}
// Where it is not, each suite makes databases of its own.
const made = process.env.TEST_DATA_FOLDER ? null : await makeDataFolder();
if (made !== null) {
  servers.push(made);
  environment.TEST_DATA_FOLDER = made.folder;
}
// They kill their servers, so they take none that somebody lends.
const missing = SERVICES.filter(({ home }) => home === null).map(({ programs }) => programs);
if (missing.length > 0) notRun.push(`the soak and the suites on failures, which start servers of their own: install ${missing.join(', ')}`);
if (oldCommits().length === 0) notRun.push('earlier builds on this schema: they take a clone of git with its history');

const stop = () => Promise.all(servers.map((server) => server.stop()));
if (notRun.length > 0 && process.env.REQUIRE_SERVICES === '1') {
  console.error(`not run, though REQUIRE_SERVICES=1: ${notRun.join('; ')}`);
  await stop();
  process.exit(1);
}
const jest = spawn(process.execPath, ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ...environment },
});
const code = await new Promise((resolve) => jest.once('exit', (status) => resolve(status ?? 1)));
await stop();
if (!existsSync('../shared/catalogs/mcp')) notRun.push('the tool lists of real MCP servers: they lie in ../shared/catalogs/mcp where there are any');
for (const line of notRun) console.log(`not run: ${line}`);
process.exit(code);
