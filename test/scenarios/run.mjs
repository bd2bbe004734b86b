// Runs the acceptance scenarios beside the project against the built service, on the embedded database and on PostgreSQL.
// Scenarios of what is not built yet are named in `of-later-issues.txt`; that list must be true both ways.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { postgresHome, startPostgres } from '../support/postgres-server.mjs';

const SHARED = path.resolve('../shared');
const KEY = 'the-platform-key-of-the-scenarios-012345';
const later = new Set(readFileSync(new URL('./of-later-issues.txt', import.meta.url), 'utf8').split('\n').filter((line) => /^[a-z]/u.test(line)));

async function startService(databaseUrl) {
  const environment = { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'info', TOOLCRIB_PLATFORM_KEY: KEY, TOOLCRIB_DATA_DIR: mkdtempSync(path.join(tmpdir(), 'toolcrib-scenarios-')) };
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

/** Whether the list is true on this database. */
async function holds(name, databaseUrl) {
  const service = await startService(databaseUrl);
  const { stdout } = spawnSync(process.execPath, [path.join(SHARED, 'tools/run-scenarios.mjs'), '--base', service.url, '--platform-key', KEY, path.join(SHARED, 'cases/http')], { encoding: 'utf8', maxBuffer: 1 << 26 });
  await service.stop();
  const failures = new Map([...stdout.matchAll(/^FAIL ([\w-]+): (.*)$/gmu)].map(([line, id]) => [id, line]));
  const summary = /^(\d+) passed, (\d+) failed$/mu.exec(stdout);
  if (summary === null || failures.size !== Number(summary[2])) throw new Error(`the scenarios did not run:\n${stdout.slice(-2_000)}`);
  const broken = [...failures.keys()].filter((id) => !later.has(id));
  const built = [...later].filter((id) => !failures.has(id));
  for (const id of broken) console.log(failures.get(id).slice(0, 600));
  for (const id of built) console.log(`${id} passes now: take it off test/scenarios/of-later-issues.txt`);
  console.log(`scenarios on ${name}: ${summary[1]} passed, ${broken.length} failed, ${later.size} of later issues`);
  return broken.length === 0 && built.length === 0;
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
