// The embedded database of a run, made once: to make one takes seconds of two processors, to copy it takes a moment.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A data folder as `migrate` of the built service leaves a new one, to be copied. Null where nothing is built. */
export async function makeDataFolder() {
  if (!existsSync('dist/main.js')) return null;
  const folder = mkdtempSync(path.join(tmpdir(), 'toolcrib-made-'));
  const job = spawn(process.execPath, ['dist/main.js', 'migrate'], { env: { PATH: process.env.PATH, TOOLCRIB_DATA_DIR: folder }, stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((resolve) => job.once('exit', resolve));
  if (code !== 0) throw new Error(`the embedded database can not be made: \`migrate\` ended with ${code}`);
  return { folder, stop: () => rmSync(folder, { recursive: true, force: true }) };
}
