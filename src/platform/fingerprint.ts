import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');

/** Of the program that runs: two builds that might answer differently have different ones. */
export async function fingerprint(): Promise<string> {
  const files = (await readdir(ROOT, { recursive: true })).filter((file) => /\.[jt]s$/u.test(file) && !file.includes('generated')).sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n`).update(await readFile(path.join(ROOT, file)));
  return hash.digest('base64url');
}
