// A private Redis for one run, from the program that the machine has. It keeps nothing on disk.
import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { folderOf, freePort, serverProcess } from './local-server.mjs';

/** The folder of `redis-server`, or null where it is not installed. */
export const redisHome = () => folderOf('redis-server');

const encoded = (parts) => Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...parts.flatMap((part) => [Buffer.from(`$${Buffer.byteLength(part)}\r\n`), Buffer.from(part), Buffer.from('\r\n')])]);

/** Commands in a row on one connection; answers what came back, as it came: the tests need no client of the service's own kind. */
function commands(port, ...all) {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write(Buffer.concat([...all, ['QUIT']].map(encoded))));
    socket.on('data', (chunk) => (answer += chunk.toString('latin1'))).once('error', reject).once('close', () => resolve(answer));
  });
}

/** The bulk strings of an answer. A key may hold anything but a line break. */
const stringsIn = (answer) => [...answer.matchAll(/\$\d+\r\n([^\r]*)\r\n/gu)].map(([, text]) => Buffer.from(text, 'latin1'));

/** Of keys that hold text: others are left alone. */
const TEXT_KEYS = `
  local keys = {}
  for _, key in ipairs(redis.call('KEYS', '*')) do
    if redis.call('TYPE', key).ok == 'string' then keys[#keys + 1] = key end
  end
  table.sort(keys)`;
const AS_LISTS = `${TEXT_KEYS}
  for _, key in ipairs(keys) do redis.call('DEL', key); redis.call('RPUSH', key, 'a list') end`;
/** Each is a value that the service itself has made, for another question. */
const SWAPPED = `${TEXT_KEYS}
  local values = {}
  for i, key in ipairs(keys) do values[i] = redis.call('GET', key) end
  for i, key in ipairs(keys) do redis.call('SET', key, values[i % #keys + 1], 'KEEPTTL') end`;

export async function startRedis(home) {
  const folder = mkdtempSync(path.join(tmpdir(), 'toolcrib-redis-'));
  const port = await freePort();
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder];
  const server = await serverProcess({ name: 'Redis', port, folder, launch: () => spawn(path.join(home, 'redis-server'), args, { stdio: 'ignore' }) });
  return {
    url: `redis://127.0.0.1:${port}`,
    ...server,
    keys: async () => stringsIn(await commands(port, ['KEYS', '*'])).map(String),
    flush: async () => void (await commands(port, ['FLUSHALL'])),
    fillWithRubbish: async () => {
      const keys = stringsIn(await commands(port, ['KEYS', '*']));
      await commands(port, ...keys.map((key) => ['SET', key, randomBytes(1 + (key.length % 97)), 'KEEPTTL']));
      return keys.length;
    },
    makeLists: async () => void (await commands(port, ['EVAL', AS_LISTS, '0'])),
    swapValues: async () => void (await commands(port, ['EVAL', SWAPPED, '0'])),
  };
}
