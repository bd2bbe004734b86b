import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { parseConfig } from '../../src/platform/config/config.js';

const SECRETS = { POSTGRES_PASSWORD: 'p'.repeat(48), TOOLCRIB_PLATFORM_KEY: 'k'.repeat(64) };
/** `${NAME}`, `${NAME:-default}` and `${NAME:?why}`: the forms that this file uses. */
const VARIABLE = /\$\{(?<name>\w+)(?::(?<kind>[-?])(?<rest>[^}]*))?\}/gu;

/** The file as Compose reads it with these variables. */
function readWith(text: string, variables: Readonly<Record<string, string>>): any {
  const filled = text.replace(/^\s*#.*$/gmu, '').replace(VARIABLE, (_, name: string, kind: string | undefined, rest: string) => {
    const value = variables[name] ?? (kind === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name}: ${rest}`);
    return value;
  });
  return parse(filled, { merge: true });
}

/** Which holds a file to the schema of the Compose specification first. What it says of the order of keys, and of quotes, is a matter of taste. */
const TASTE = ['require-quotes-in-ports', 'service-keys-order', 'services-alphabetical-order', 'top-level-properties-order'];
function lint(file: string): { status: number | null; told: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['node_modules/dclint/bin/dclint.cjs', file, '--max-warnings', '0', '--disable-rule', ...TASTE], { encoding: 'utf8' });
  return { status, told: (stdout + stderr).trim() };
}

describe('compose.yaml', () => {
  let text: string;
  let services: Record<string, any>;
  beforeAll(async () => {
    text = await readFile('compose.yaml', 'utf8');
    services = readWith(text, SECRETS).services;
  });

  it('is of the form that the Compose specification gives', async () => {
    expect(lint('compose.yaml')).toEqual({ status: 0, told: '' });
    const odd = path.join(await mkdtemp(path.join(tmpdir(), 'toolcrib-compose-')), 'compose.yaml');
    await writeFile(odd, text.replace('interval: 5s', 'intervall: 5s'));
    expect(lint(odd)).toEqual({ status: 1, told: expect.stringContaining('instancePath="/services/toolcrib/healthcheck"') });
  });

  it('starts nothing without both secrets, holds neither, and keeps them out of git and of the image', async () => {
    for (const name of Object.keys(SECRETS)) expect(() => readWith(text, { ...SECRETS, [name]: undefined as never })).toThrow(`${name}: see docs/deploy.md`);
    expect((await readFile('.gitignore', 'utf8')).split('\n')).toContain('.env');
    expect((await readFile('.dockerignore', 'utf8')).split('\n')).not.toContain('!.env');
  });

  it('confines every process, and tells of each whether it is well', () => {
    expect(Object.keys(services).sort()).toEqual(['postgres', 'redis', 'toolcrib']);
    for (const service of Object.values(services)) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], pids_limit: expect.any(Number), healthcheck: { test: expect.any(Array) } });
      expect(service.privileged ?? service.cap_add).toBeUndefined();
    }
  });

  it('opens one port, on this machine alone, and no way from the stores to elsewhere', () => {
    const { networks } = readWith(text, SECRETS);
    expect(Object.values(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:3000:3000']);
    for (const name of ['postgres', 'redis']) expect(services[name].networks.map((network: string) => networks[network])).toEqual([{ internal: true }]);
  });

  it('gives the service an environment that it takes, after its stores are well, and time to finish', () => {
    const { toolcrib } = services;
    const hosts = Object.fromEntries(['databaseUrl', 'redisUrl'].map((name) => [name, new URL((parseConfig(toolcrib.environment) as any)[name]).hostname]));
    expect(hosts).toEqual({ databaseUrl: 'postgres', redisUrl: 'redis' });
    expect(toolcrib.depends_on).toEqual({ postgres: { condition: 'service_healthy' }, redis: { condition: 'service_healthy' } });
    expect(Number.parseInt(toolcrib.stop_grace_period, 10)).toBeGreaterThan(10);
  });

  it('reads the variables that docs/deploy.md tells of', async () => {
    const told = (await readFile('docs/deploy.md', 'utf8')).split('\n## Compose')[1]?.split('\n## ')[0] ?? '';
    const names = new Set([...text.matchAll(VARIABLE)].map(({ groups }) => groups?.['name'] ?? ''));
    expect([...names].filter((name) => !told.includes(`\`${name}\``))).toEqual([]);
  });
});
