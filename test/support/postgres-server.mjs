// A private PostgreSQL for one run, from the programs that the machine has.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const DEBIAN_HOME = '/usr/lib/postgresql';

/** The folder of `postgres` and `initdb`, or null where they are not installed. */
export function postgresHome() {
  const debian = existsSync(DEBIAN_HOME) ? readdirSync(DEBIAN_HOME).sort((a, b) => Number(b) - Number(a)).map((version) => path.join(DEBIAN_HOME, version, 'bin')) : [];
  const folders = [...debian, ...(process.env.PATH ?? '').split(path.delimiter)];
  return folders.find((folder) => existsSync(path.join(folder, 'initdb')) && existsSync(path.join(folder, 'postgres'))) ?? null;
}

const freePort = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** PostgreSQL refuses to run as root: there the `postgres` user of the package stands in. */
const asServerUser = (command, args) => (process.getuid?.() === 0 ? ['runuser', ['-u', 'postgres', '--', command, ...args]] : [command, args]);

export async function startPostgres(home) {
  const folder = mkdtempSync(path.join(tmpdir(), 'toolcrib-postgres-'));
  if (process.getuid?.() === 0) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'postgres']).stdout.toString()));
    chownSync(folder, uid, gid);
  }
  const data = path.join(folder, 'data');
  const [initdb, initArgs] = asServerUser(path.join(home, 'initdb'), ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C']);
  const made = spawnSync(initdb, initArgs);
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const [postgres, args] = asServerUser(path.join(home, 'postgres'), ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder, '-c', 'fsync=off', '-c', 'max_connections=200']);
  const server = spawn(postgres, args, { stdio: 'ignore' });
  await accepting(port);
  const stop = async () => {
    spawnSync(...asServerUser(path.join(home, 'pg_ctl'), ['-D', data, '-m', 'immediate', 'stop']));
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `postgresql://postgres@127.0.0.1:${port}/postgres`, stop };
}

async function accepting(port) {
  for (let tries = 0; tries < 100; tries += 1) {
    const open = await new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('PostgreSQL did not start');
}
