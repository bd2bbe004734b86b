import { closeSync, openSync, readSync } from 'node:fs';
import { lstat, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

/** A file below a folder, with what a disk gives it: whole blocks. */
export interface TreeFile {
  readonly name: string;
  readonly size: number;
}

const BLOCK = 4_096;
const PACKAGE = /^(?:(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\/package\.json$/u;

/** Every file below `folder`, links as such. */
export async function filesOf(folder: string): Promise<TreeFile[]> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory());
  return Promise.all(entries.map(async ({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return { name: path.relative(folder, file), size: Math.ceil((await lstat(file)).size / BLOCK) * BLOCK };
  }));
}

/** Bytes of `node_modules/@scope/name`, `dist` and so on, the heaviest first. */
export function weightsOf(files: readonly TreeFile[]): [part: string, bytes: number][] {
  const weights = new Map<string, number>();
  for (const { name, size } of files) {
    const part = /^(?:node_modules\/(?:@[^/]+\/)?)?[^/]+/u.exec(name)?.[0] ?? name;
    weights.set(part, (weights.get(part) ?? 0) + size);
  }
  return [...weights].sort(([, a], [, b]) => b - a);
}

/** `name@version` of every package that is installed among the files. */
export async function packagesOf(folder: string, files: readonly TreeFile[]): Promise<string[]> {
  const manifests = await Promise.all(files.filter(({ name }) => PACKAGE.test(name)).map(async ({ name }) => JSON.parse(await readFile(path.join(folder, name), 'utf8')) as { name: string; version: string }));
  return [...new Set(manifests.map(({ name, version }) => `${name}@${version}`))].sort();
}

/** Those that only one kind of machine can load: modules and programs in ELF. */
export function nativeFilesOf(folder: string, files: readonly TreeFile[]): string[] {
  const start = Buffer.alloc(4);
  return files.map(({ name }) => name).filter((name) => {
    const file = openSync(path.join(folder, name), 'r');
    start.fill(0);
    readSync(file, start, 0, 4, 0);
    closeSync(file);
    return name.endsWith('.node') || start.toString('latin1') === '\x7fELF';
  });
}
