import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from './config.js';

const MIN_LENGTH = 32;

export interface PlatformKey {
  readonly key: string;
  /** True when it was made just now: the one time that it is shown. */
  readonly isNew: boolean;
}

/** The configured platform key, else the embedded mode's own. */
export const platformKeyOf = async ({ platformKey, dataDir }: Config): Promise<PlatformKey> =>
  platformKey === null ? embeddedPlatformKey(dataDir) : { key: platformKey, isNew: false };

/** The embedded mode's own platform key: made once and kept in the data folder, readable for its owner alone. */
async function embeddedPlatformKey(dataDir: string): Promise<PlatformKey> {
  const file = path.join(dataDir, 'platform-key');
  try {
    const key = (await readFile(file, 'utf8')).trim();
    if (key.length < MIN_LENGTH) throw new Error(`\`${file}\` holds no platform key: delete it, and a new one is made`);
    return { key, isNew: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const key = `tcp_${randomBytes(32).toString('base64url')}`;
  // Whole or not at all, whatever happens in between.
  await writeFile(`${file}.new`, `${key}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return { key, isNew: true };
}
