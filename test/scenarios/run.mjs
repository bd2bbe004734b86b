// Runs the acceptance scenarios beside the project against the built service, on the embedded database and on PostgreSQL.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { postgresHome, startPostgres } from '../support/postgres-server.mjs';

const SHARED = path.resolve('../shared');
const KEY = 'the-platform-key-of-the-scenarios-012345';

async function startService(databaseUrl) {
  const environment = { PATH: process.env.PATH, PORT: '0', TOOLCRIB_MAX_QUEUE_MS: '600000', LOG_LEVEL: 'info', TOOLCRIB_PLATFORM_KEY: KEY, TOOLCRIB_DATA_DIR: mkdtempSync(path.join(tmpdir(), 'toolcrib-scenarios-')) };
  const child = spawn(process.execPath, ['dist/main.js'], { env: databaseUrl === null ? environment : { ...environment, DATABASE_URL: databaseUrl }, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve, reject) => {
    let printed = '';
    child.once('exit', () => reject(new Error(`the service does not start: ${printed}`)));
    child.stdout.on('data', (chunk) => {
      printed = (printed + chunk).slice(-100_000);
      const found = /"url":"(http:[^"]+)"/u.exec(printed)?.[1];
      if (found) resolve(found);
    });
  });
  while (!(await fetch(`${url}/health/ready`)).ok) await new Promise((resolve) => setTimeout(resolve, 100));
  return { url, stop: () => new Promise((resolve) => { child.once('exit', resolve); child.kill('SIGTERM'); }) };
}

/** Whether all of them pass on this database. */
async function holds(name, databaseUrl) {
  const service = await startService(databaseUrl);
  const { stdout } = spawnSync(process.execPath, [path.join(SHARED, 'tools/run-scenarios.mjs'), '--base', service.url, '--platform-key', KEY, path.join(SHARED, 'cases/http')], { encoding: 'utf8', maxBuffer: 1 << 26 });
  await service.stop();
  const summary = /^(\d+) passed, (\d+) failed$/mu.exec(stdout);
  if (summary === null) throw new Error(`the scenarios did not run:\n${stdout.slice(-2_000)}`);
  for (const [line] of stdout.matchAll(/^FAIL .*$/gmu)) console.log(line.slice(0, 600));
  console.log(`scenarios on ${name}: ${summary[1]} passed, ${summary[2]} failed`);
  return summary[2] === '0';
}

const home = postgresHome();
const results = [await holds('the embedded database', null)];
if (process.env.TEST_DATABASE_URL || home !== null) {
  const server = process.env.TEST_DATABASE_URL ? null : await startPostgres(home);
  results.push(await holds('PostgreSQL', process.env.TEST_DATABASE_URL ?? server.url));
  await server?.stop();
} else {
  console.log('not run: the scenarios on PostgreSQL');
  if (process.env.REQUIRE_SERVICES === '1') results.push(false);
}
process.exit(results.every(Boolean) ? 0 : 1);
