import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

const read = (file: string): any => JSON.parse(readFileSync(file, 'utf8'));

function run(script: string, args: readonly string[] = [], input = ''): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [`.ci/${script}.mjs`, ...args], { encoding: 'utf8', input, maxBuffer: 2 ** 26 });
}

describe('the lock file', () => {
  const lock = read('package-lock.json');
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'toolcrib-lock-')), 'package-lock.json');
  const checkWith = (entry: object): ReturnType<typeof run> => {
    writeFileSync(file, JSON.stringify({ ...lock, packages: { ...lock.packages, 'node_modules/odd': { version: '1.0.0', ...entry } } }));
    return run('lockfile', [file]);
  };
  const integrity = `sha512-${'a'.repeat(86)}==`;

  it('names packages of a registry alone, each held to its digest', () => {
    expect(run('lockfile')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^lock file: \d+ entries/u) });
    expect(checkWith({ integrity }).status).toBe(0);
  });

  it.each([
    ['no digest', {}, 'has no SHA-512 of its content'],
    ['a weak digest', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'has no SHA-512 of its content'],
    ['an address of its own', { integrity, resolved: 'git+ssh://git@example.com/odd.git#0123' }, 'comes from an address of its own, git+ssh://git@example.com/odd.git#0123'],
    ['a folder', { link: true, resolved: '../odd' }, 'is a link to a folder'],
  ])('is refused with %s', (_, entry, why) => {
    expect(checkWith(entry)).toMatchObject({ status: 1, stderr: `node_modules/odd ${why}\n` });
  });
});

describe('the bill of materials', () => {
  const { status, stdout } = run('sbom');
  const bill = JSON.parse(stdout);

  it('is valid CycloneDX about this very version, and begins with what it depends on', () => {
    const { name, version, dependencies } = read('package.json');
    expect(status).toBe(0);
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { type: 'application', name, version } } });
    const { ref, dependsOn } = bill.dependencies.find((entry: any) => entry.ref === `${name}@${version}`);
    expect([ref, dependsOn.map((text: string) => text.slice(0, text.lastIndexOf('@'))).sort()]).toEqual([`${name}@${version}`, Object.keys(dependencies).sort()]);
  });

  const judge = (licenses: object[] | undefined): ReturnType<typeof run> => run('licences', [], JSON.stringify({ components: [...bill.components, { name: 'odd', version: '1.0.0', licenses }] }));

  it('names allowed licences alone', () => {
    expect(run('licences', [], stdout)).toMatchObject({ status: 0, stdout: `licences: ${bill.components.length} packages, all allowed\n` });
    expect(judge([{ expression: '(GPL-3.0-only OR MIT)' }]).status).toBe(0);
  });

  it.each([
    ['copyleft', [{ license: { id: 'GPL-3.0-only' } }], 'GPL-3.0-only'],
    ['one of two that is not allowed', [{ expression: 'MIT AND AGPL-3.0-only' }], 'MIT AND AGPL-3.0-only'],
    ['text that nobody can judge', [{ license: { name: 'SEE LICENSE IN LICENSE.md' } }], 'SEE LICENSE IN LICENSE.md'],
    ['none', undefined, 'of nobody'],
  ])('is refused with %s', (_, licenses, told) => {
    expect(judge(licenses)).toMatchObject({ status: 1, stderr: `odd@1.0.0 has the licence ${told}, which .ci/licences.mjs does not allow\n` });
  });
});
