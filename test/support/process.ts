import type { ChildProcess, SpawnOptionsWithoutStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepCredentials, keepPassword, keepSecret, overhear, overhearAnswer } from './secrets.js';

export interface ServiceProcess {
  readonly child: ChildProcess;
  /** Everything it has printed so far. */
  readonly output: () => string;
  /** Resolves to the exit code, or to the signal that ended it. */
  readonly ended: Promise<number | string | null>;
}

/** A machine that is busy with tests turns nobody away: what is late there says nothing of the service. Overload has tests of its own. */
export const PATIENT = { TOOLCRIB_MAX_QUEUE_MS: '600000' };

const BUILT = 'dist/main.js';

/** An empty one: the first start makes what is in it. */
export const newDataDir = (): Promise<string> => mkdtemp(path.join(tmpdir(), 'toolcrib-data-'));

/** What a first start has made already, once for the whole run: `run-tests.mjs`. Not set where a suite runs without it. */
const MADE = process.env['TEST_DATA_FOLDER'];

/** One whose database is made and migrated, for tests of what comes after the first start. */
export async function madeDataDir(): Promise<string> {
  const folder = await newDataDir();
  // Not the asynchronous one, which takes five times as long for a thousand small files.
  if (MADE !== undefined) cpSync(path.join(MADE, 'postgres'), path.join(folder, 'postgres'), { recursive: true });
  return folder;
}

/** The built service as a process of its own, or another build of it. */
export function spawnService(environment: Record<string, string>, args: readonly string[] = [], main = BUILT): ServiceProcess {
  keepSecret(environment['TOOLCRIB_PLATFORM_KEY']);
  for (const name of ['DATABASE_URL', 'REDIS_URL']) keepPassword(environment[name]);
  // An earlier build may not know today's settings.
  const service = spawnProcess([process.execPath, main, ...args], { env: { PATH: process.env['PATH'], PORT: '0', ...(main === BUILT ? PATIENT : {}), ...environment } });
  overhear('what the process printed', service.output);
  return service;
}

/** Any command as a process of its own. */
export function spawnProcess([program = '', ...args]: readonly string[], options: SpawnOptionsWithoutStdio): ServiceProcess {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const ended = new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  return { child, output: () => printed, ended };
}

/** The address that the process listens on. */
export async function listening({ output, child }: ServiceProcess): Promise<string> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    const url = /"url":"(http:[^"]+)"/u.exec(output())?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null) break;
    await sleep(100);
  }
  throw new Error(`the service does not listen: ${output()}`);
}

/** One JSON request to a running process. */
export async function ask(url: string, key: string | null, method: string, route: string, body?: unknown, headers: Record<string, string> = {}): Promise<{ status: number; body: any; headers: Headers }> {
  keepSecret(key);
  keepCredentials(headers);
  const response = await fetch(url + route, {
    method,
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  overhearAnswer(method, route, response.status, text);
  const answered = text.startsWith('{') ? JSON.parse(text) : text;
  if (route === '/v1/keys' && method === 'POST') keepSecret(answered.key);
  return { status: response.status, headers: response.headers, body: answered };
}
