// A private PostgreSQL for one run, from the programs that the machine has.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort, serverProcess } from './local-server.mjs';

const DEBIAN_HOME = '/usr/lib/postgresql';

/** The folder of `postgres` and `initdb`, or null where they are not installed. */
export function postgresHome() {
  const debian = existsSync(DEBIAN_HOME) ? readdirSync(DEBIAN_HOME).sort((a, b) => Number(b) - Number(a)).map((version) => path.join(DEBIAN_HOME, version, 'bin')) : [];
  const folders = [...debian, ...(process.env.PATH ?? '').split(path.delimiter)];
  return folders.find((folder) => existsSync(path.join(folder, 'initdb')) && existsSync(path.join(folder, 'postgres'))) ?? null;
}

/** PostgreSQL refuses to run as root: there the `postgres` user of the package stands in. */
function serverUser() {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'postgres']).stdout.toString()));
  return { uid, gid };
}

/** Without fsync: what a killed process has written is the system's already, and is lost with the machine alone. */
const SETTINGS = ['fsync=off', 'max_connections=200'];

/** A server on a port and a folder of its own, which can be killed, started again, and made to hang. */
export async function startPostgres(home) {
  const folder = mkdtempSync(path.join(tmpdir(), 'toolcrib-postgres-'));
  const user = serverUser();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const made = spawnSync(path.join(home, 'initdb'), ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'], user);
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder, ...SETTINGS.flatMap((setting) => ['-c', setting])];
  const server = await serverProcess({ name: 'PostgreSQL', port, folder, launch: () => spawn(path.join(home, 'postgres'), args, { stdio: 'ignore', ...user }) });
  return { url: `postgresql://postgres@127.0.0.1:${port}/postgres`, ...server };
}
