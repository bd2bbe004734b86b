import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newPostgresUrl, postgresServer } from '../support/databases.js';
import type { Image } from '../support/dockerfile.js';
import { buildImage } from '../support/dockerfile.js';
import type { TreeFile } from '../support/file-tree.js';
import { filesOf, nativeFilesOf, packagesOf, weightsOf } from '../support/file-tree.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, spawnProcess } from '../support/process.js';

// No Docker is needed: the steps of the Dockerfile are done in an empty folder, by this machine's shell and its Node. That may be
// another release than the image's, any from 20.19 on. Of what else the base image has, nothing is used.

const KEY = 'a-platform-key-for-the-image-tests-001';
const MEGABYTE = 1_000_000;
const HEAVIEST = 150 * MEGABYTE;
const redisServer = process.env['TEST_REDIS_URL'];
const isRoot = process.getuid?.() === 0;

/** Where the process finds a path of the image. */
const placeOf = ({ root }: Image, text: string): string => (text.startsWith('/') ? path.join(root, text) : text);

/** What a container would be started with: the image's user, folder and environment, and nothing else of this machine but a shell. */
function start(image: Image, command: readonly string[], environment: Record<string, string> = {}): ServiceProcess {
  const own = Object.fromEntries(Object.entries(image.environment).map(([name, value]) => [name, placeOf(image, value)]));
  return spawnProcess(command, {
    cwd: placeOf(image, image.workdir),
    // There is no folder for temporary files either.
    env: { PATH: `${placeOf(image, '/usr/local/bin')}:/usr/bin:/bin`, TMPDIR: placeOf(image, '/tmp'), ...own, ...environment },
    ...(isRoot && image.user),
  });
}

/** As `--read-only` does it: nobody writes anywhere but in the volumes. */
function lock(image: Image): void {
  execFileSync('chmod', ['-R', 'a-w', image.root]);
  for (const volume of image.volumes) execFileSync('chmod', ['-R', 'u+w', placeOf(image, volume)]);
}

async function freePort(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

describe('the image', () => {
  let folder: string;
  let image: Image;
  let app: string;
  let files: TreeFile[];
  const running: ServiceProcess[] = [];
  const run = (command: readonly string[], environment?: Record<string, string>): ServiceProcess => {
    const started = start(image, command, environment);
    running.push(started);
    return started;
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'toolcrib-image-'));
    await chmod(folder, 0o755);
    image = await buildImage('.', folder);
    app = placeOf(image, image.workdir);
    files = await filesOf(app);
    // The Node of the base image, where its user may reach it.
    await mkdir(placeOf(image, '/usr/local/bin'), { recursive: true });
    await copyFile(process.execPath, placeOf(image, '/usr/local/bin/node'));
    lock(image);
  }, 900_000);
  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  });
  afterAll(async () => {
    execFileSync('chmod', ['-R', 'u+w', folder]);
    await rm(folder, { recursive: true });
  });

  it('says what it is, made from one release of Node', async () => {
    const { version, description } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(image.base).toMatch(/^node:24\.\d+\.\d+-slim$/u);
    expect(image.labels).toEqual({
      'org.opencontainers.image.title': 'Toolcrib',
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': 'unknown',
      'org.opencontainers.image.base.name': `docker.io/library/${image.base}`,
    });
  });

  it('stays under 150 MB', () => {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const told = weightsOf(files).slice(0, 10).map(([part, size]) => `${(size / MEGABYTE).toFixed(1)} MB ${part}`);
    const heaviest = bytes < HEAVIEST ? 'under' : [`${(bytes / MEGABYTE).toFixed(1)} MB`, ...told];
    expect(heaviest).toBe('under');
  });

  it('holds the packages of the bill of materials and no other, the same on every kind of machine', async () => {
    const { components } = JSON.parse(execFileSync(process.execPath, ['.ci/sbom.mjs'], { encoding: 'utf8', maxBuffer: 2 ** 26 }));
    expect(await packagesOf(app, files)).toEqual([...new Set(components.map(({ name, version }: any) => `${name}@${version}`))].sort());
    expect(nativeFilesOf(app, files)).toEqual([]);
  });

  it('decides as a user who can write nothing but the data folder, and ends in order when it is told to', async () => {
    const writing = 'for (const file of process.argv.slice(1)) { try { fs.writeFileSync(file, ""); console.log("written"); } catch ({ code }) { console.log(code); } }';
    const tries = ['/new', `${image.workdir}/new`, `${image.workdir}/dist/main.js`, '/data/new'].map((file) => placeOf(image, file));
    const writer = run(['node', '-e', writing, ...tries]);
    expect([await writer.ended, writer.output()]).toEqual([0, 'EACCES\nEACCES\nEACCES\nwritten\n']);

    const environment = { PORT: await freePort(), TOOLCRIB_PLATFORM_KEY: KEY };
    const service = run(image.command, environment);
    const url = (await listening(service)).replace('0.0.0.0', '127.0.0.1');
    const headers = { 'x-tenant-id': 'acme' };
    expect((await ask(url, KEY, 'POST', '/v1/tenants', { tenantId: 'acme', name: 'Acme' })).status).toBe(201);
    const tools = [{ name: 'read_file', description: 'Read a file.', isCore: true }, { name: 'run_workflow', description: 'Run one workflow.' }];
    expect((await ask(url, KEY, 'POST', '/v1/tools/sync', { source: 'image', tools }, headers)).body).toMatchObject({ revision: 1 });
    expect((await ask(url, KEY, 'PUT', '/v1/agents/helper', { tools: { enabled: ['run_workflow'] } }, headers)).status).toBe(201);
    expect((await ask(url, KEY, 'POST', '/v1/decide', { agentId: 'helper' }, headers)).body.toolNames).toEqual(['read_file', 'run_workflow']);
    // What is read while it runs is there: the dictionary of the search, and the files of Swagger.
    expect(JSON.stringify((await ask(url, KEY, 'POST', '/v1/search', { agentId: 'helper', query: '运行工作流' }, headers)).body)).toContain('run_workflow');
    expect((await ask(url, null, 'GET', '/docs/swagger-ui-bundle.js')).status).toBe(200);

    expect(await run(image.healthcheck, environment).ended).toBe(0);
    service.child.kill(image.stopSignal as NodeJS.Signals);
    expect([image.stopSignal, await service.ended]).toEqual(['SIGTERM', 0]);
    expect(await run(image.healthcheck, environment).ended).toBe(1);
  });

  (postgresServer === undefined || redisServer === undefined ? it.skip : it)('writes nowhere at all with PostgreSQL and Redis', async () => {
    const environment = { PORT: await freePort(), TOOLCRIB_PLATFORM_KEY: KEY, TOOLCRIB_DATA_DIR: placeOf(image, '/nowhere'), DATABASE_URL: await newPostgresUrl(postgresServer ?? ''), REDIS_URL: redisServer ?? '' };
    const service = run(image.command, environment);
    const url = (await listening(service)).replace('0.0.0.0', '127.0.0.1');
    for (let tries = 0; tries < 300 && (await ask(url, null, 'GET', '/health/ready')).status !== 200; tries += 1) await sleep(100);
    expect((await ask(url, null, 'GET', '/health/ready')).body).toEqual({ status: 'ready', database: 'up', redis: 'up' });
    expect((await ask(url, KEY, 'POST', '/v1/tenants', { tenantId: 'acme', name: 'Acme' })).status).toBe(201);
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });

  it('migrates as a job of its own', async () => {
    const environment = { TOOLCRIB_DATA_DIR: placeOf(image, '/data/another') };
    const job = run([...image.command, 'migrate'], environment);
    expect([await job.ended, job.output()]).toEqual([0, expect.stringMatching(/^applied \d+_/u)]);
    const again = run([...image.command, 'migrate'], environment);
    expect([await again.ended, again.output()]).toEqual([0, 'nothing to apply\n']);
  });
});

describe('the reader of the Dockerfile', () => {
  it.each([
    ['a step that it does not know', 'ADD a /b'],
    ['a trigger', 'ONBUILD RUN true'],
    ['another entry point', 'ENTRYPOINT ["node"]'],
    ['a flag of a step that runs', 'RUN --mount=type=cache,target=/x true'],
    ['a step that leaves its folder', 'RUN touch /x'],
    ['a here-document', 'RUN <<EOF\ntrue\nEOF'],
    ['a step that fails', 'RUN false'],
    ['a pattern', 'COPY *.json ./'],
    ['a file that .dockerignore keeps out', 'COPY secret ./'],
    ['a stage that is not there', 'COPY --from=nowhere /x ./'],
    ['a command through a shell, that a signal would not get past', 'CMD node main.js'],
    ['root', 'USER 0:0'],
    ['a user by name', 'USER node'],
    ['a value of an argument that is not there', 'LABEL a="${B}"'],
  ])('refuses %s', async (_, step) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'toolcrib-steps-'));
    await mkdir(path.join(folder, 'stages'));
    await writeFile(path.join(folder, '.dockerignore'), '*\n!kept\n');
    for (const file of ['secret', 'kept']) await writeFile(path.join(folder, file), file);
    const build = async (text: string): Promise<Image> => {
      await writeFile(path.join(folder, 'Dockerfile'), text);
      return buildImage(folder, await mkdtemp(path.join(folder, 'stages', 'of-')));
    };
    const good = await build('FROM node:24.0.0-slim\nWORKDIR /app\nCOPY kept ./\n');
    expect(await readFile(path.join(good.root, 'app', 'kept'), 'utf8')).toBe('kept');
    await expect(build(`FROM node:24.0.0-slim\nWORKDIR /app\n${step}\n`)).rejects.toThrow(/^Dockerfile, line 3, /u);
    await rm(folder, { recursive: true });
  });
});
