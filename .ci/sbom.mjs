// The bill of materials (CycloneDX) of what the image runs, to standard output. By the lock file, so that it needs no installation:
// `npm sbom --omit=dev` goes by the tree that is installed, and leaves out what developers use as well.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Validation, Spec } from '@cyclonedx/cyclonedx-library';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { devDependencies: _developers, scripts: _scripts, ...manifest } = read('package.json');
const lock = read('package-lock.json');
const packages = Object.entries(lock.packages).filter(([, { dev, devOptional, optional }]) => !dev && !devOptional && !optional);
const { devDependencies: _theirs, ...root } = lock.packages[''];

const temporary = mkdtempSync(path.join(tmpdir(), 'toolcrib-sbom-'));
try {
  // npm calls the application by its folder.
  const folder = path.join(temporary, manifest.name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages: { ...Object.fromEntries(packages), '': root } }));
  const bill = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'], { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const faults = await new Validation.JsonStrictValidator(Spec.Version[`v${JSON.parse(bill).specVersion.replace('.', 'dot')}`]).validate(bill);
  if (faults !== null) throw new Error(`the bill of materials is not valid CycloneDX: ${JSON.stringify(faults)}`);
  process.stdout.write(bill);
} finally {
  rmSync(temporary, { recursive: true });
}
