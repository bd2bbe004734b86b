import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, madeDataDir, spawnService } from '../support/process.js';

const PLATFORM_KEY = 'a-platform-key-for-the-example-tests-001';
const OF_TENANT = { 'x-tenant-id': 'acme' };

/** Runs a program to its end, while this process goes on: the service would close connections that nobody tends. */
async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(program, args, { env });
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) child[stream].on('data', (chunk: Buffer) => (printed[stream] += chunk.toString()));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, ...printed };
}

describe('the examples, on a service of their own', () => {
  let service: ServiceProcess;
  let url: string;
  beforeAll(async () => {
    service = spawnService({ TOOLCRIB_DATA_DIR: await madeDataDir(), TOOLCRIB_PLATFORM_KEY: PLATFORM_KEY });
    url = await listening(service);
    await ask(url, PLATFORM_KEY, 'POST', '/v1/tenants', { tenantId: 'acme', name: 'Acme' });
  });
  afterAll(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });

  const newKey = async (...scopes: string[]): Promise<string> => (await ask(url, PLATFORM_KEY, 'POST', '/v1/keys', { name: 'example', scopes }, OF_TENANT)).body.key;

  it('consumer.sh syncs, decides, honours the ETag, checks and reads refusals', async () => {
    const environment = { PATH: process.env['PATH'], TOOLCRIB_URL: url, TOOLCRIB_KEY: await newKey('sync', 'decide', 'governance:write') };
    const { status, stdout, stderr } = await run('sh', ['examples/consumer.sh'], environment);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toEqual([
      'synced: revision 1',
      'decided: ["read_page"]',
      'decided again: not modified',
      'checked: OK',
      'refused: INVALID_ARGUMENTS',
      'problem: AGENT_NOT_FOUND, there is no agent `nobody-of-this-name`',
    ]);
    const unable = await run('sh', ['examples/consumer.sh'], { ...environment, TOOLCRIB_KEY: await newKey('decide') });
    expect([unable.status, unable.stderr]).toEqual([1, expect.stringMatching(/^POST \/v1\/tools\/sync answered 403: /u)]);
  });

  it('consumer.ts fits the types of the document, and keeps to what is decided while that changes', async () => {
    for (const args of [['run', '--silent', 'types'], ['exec', '--', 'tsc', '-p', 'examples/tsconfig.json']]) {
      const { status, stdout, stderr } = await run('npm', args);
      expect({ args, status, said: status === 0 ? '' : stdout + stderr }).toEqual({ args, status: 0, said: '' });
    }
    const tool = { name: 'read_page', description: 'd', runtime: { network: true }, inputSchema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] } };
    await ask(url, PLATFORM_KEY, 'POST', '/v1/tools/sync', { source: 'ts', mode: 'partial', tools: [{ ...tool, name: 'fetch_page' }] }, OF_TENANT);
    await ask(url, PLATFORM_KEY, 'PUT', '/v1/agents/reader', { tools: { enabled: ['fetch_page'] } }, OF_TENANT);
    const child = spawn(process.execPath, ['dist-examples/consumer.js'], { env: { PATH: process.env['PATH'], TOOLCRIB_URL: url, TOOLCRIB_KEY: await newKey('decide'), TOOLCRIB_AGENT: 'reader', TOOLCRIB_CONVERSATION: 'c-1' } });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    /** What it says when the model wants this: two lines, or one where the turn was not answered. */
    const says = async (wanted: string | null, lines: number): Promise<string[]> => {
      printed = '';
      if (wanted !== null) child.stdin.write(`${wanted}\n`);
      for (let tries = 0; tries < 200 && printed.split('\n').length <= lines; tries += 1) await sleep(50);
      return printed.trim().split('\n');
    };
    try {
      expect(await says(null, 1)).toEqual(['ready']);
      expect(await says('fetch_page {"url": "https://example.org"}', 2)).toEqual([expect.stringMatching(/^revision \d+: fetch_page$/u), 'call fetch_page (worker-local)']);
      expect(await says('fetch_page {}', 2)).toEqual(['not modified', expect.stringMatching(/^tell the model: .*; \/url .*required/u)]);
      await ask(url, PLATFORM_KEY, 'PUT', '/v1/agents/reader/tools/fetch_page/switch', { on: false }, OF_TENANT);
      expect(await says('fetch_page {"url": "https://example.org"}', 2)).toEqual([expect.stringMatching(/^revision \d+: no tools$/u), expect.stringMatching(/^tell the model: /u)]);
      await ask(url, PLATFORM_KEY, 'DELETE', '/v1/agents/reader', undefined, OF_TENANT);
      expect(await says('fetch_page {}', 1)).toEqual([expect.stringMatching(/^problem AGENT_NOT_FOUND: .* \(request .+\)$/u)]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
