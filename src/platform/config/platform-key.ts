import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface PlatformKey {
  readonly key: string;
  /** True when it was made just now: the one time that it is shown. */
  readonly isNew: boolean;
}

/** The embedded mode's own platform key: made once and kept in the data folder, readable for its owner alone. */
export async function embeddedPlatformKey(dataDir: string): Promise<PlatformKey> {
  const file = path.join(dataDir, 'platform-key');
  try {
    return { key: (await readFile(file, 'utf8')).trim(), isNew: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const key = `tcp_${randomBytes(32).toString('base64url')}`;
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return { key, isNew: true };
}
