// What the private servers of the tests have in common: a free port, a way to wait for them, and signals to all of their processes.
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { spawnSync } from 'node:child_process';

export const freePort = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Resolves once something listens on the port. */
export async function accepting(port, name) {
  for (let tries = 0; tries < 200; tries += 1) {
    const open = await new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${name} did not start`);
}

/** The folder of a program on the path, or null. */
export const folderOf = (program) => (process.env.PATH ?? '').split(path.delimiter).find((folder) => existsSync(path.join(folder, program))) ?? null;

/** Slim systems have no `ps`: there the kernel's own list says it. */
function parents() {
  if (!existsSync('/proc/self/stat')) {
    const lines = spawnSync('ps', ['-A', '-o', 'pid=,ppid=']).stdout.toString().trim().split('\n');
    return lines.map((line) => line.trim().split(/\s+/u).map(Number));
  }
  return readdirSync('/proc').filter((name) => /^\d+$/u.test(name)).flatMap((pid) => {
    try {
      // The program's name, in brackets, may hold spaces.
      return [[Number(pid), Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /u, '').split(' ')[1])]];
    } catch {
      return [];
    }
  });
}

const send = (pid, signal) => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
};

/** Signals a process and its children. It is held first, so that it makes no more of them meanwhile. */
export function signalAll(pid, signal) {
  send(pid, 'SIGSTOP');
  const children = parents().filter(([, parent]) => parent === pid).map(([child]) => child);
  for (const one of [...children, pid]) send(one, signal);
}

/** Resolves when the process is gone. */
export async function gone(pid) {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`the process ${pid} does not end`);
}

/** A private server as a process that tests may kill, hang and bring back. `launch` starts it and returns its child. */
export async function serverProcess({ name, port, folder, launch }) {
  let pid = null;
  const start = async () => {
    ({ pid } = launch());
    await accepting(port, name);
  };
  const kill = async () => {
    if (pid === null) return;
    signalAll(pid, 'SIGKILL');
    await gone(pid);
    pid = null;
  };
  await start();
  return {
    kill,
    restart: () => kill().then(start),
    pause: () => signalAll(pid, 'SIGSTOP'),
    resume: () => signalAll(pid, 'SIGCONT'),
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
