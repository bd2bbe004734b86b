import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { SharedRedis } from './redis.js';

/** Says of itself that it is ready, answers nothing else, or refuses everything, as the test wants it. */
const fakeRedis = (answer: (command: string) => string | null): Promise<{ url: string; connections: () => number; commands: () => number; close: () => void }> => {
  let connections = 0;
  let commands = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', (chunk) => {
      for (const [, count] of chunk.toString('latin1').matchAll(/^\*(\d+)\r$/gmu)) {
        if (Number(count) < 1) continue;
        const text = chunk.toString('latin1');
        const isMeant = /get/iu.test(text);
        if (isMeant) commands += 1;
        const said = isMeant ? answer(text) : '+OK\r\n';
        if (said !== null) socket.write(/info/iu.test(text) ? '$14\r\nredis_version:\r\n' : said);
      }
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({
      url: `redis://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
      connections: () => connections,
      commands: () => commands,
      close: () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    }));
  });
};

describe('the shared Redis', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    jest.restoreAllMocks();
    for (const close of closing.splice(0)) close();
  });

  const connect = async (answer: (command: string) => string | null) => {
    const server = await fakeRedis(answer);
    const redis = new SharedRedis(server.url, createLogger('silent'), new Metrics());
    closing.push(() => redis.close(), server.close);
    for (let tries = 0; tries < 100 && !redis.isReachable; tries += 1) await sleep(20);
    return { server, redis, get: () => redis.run((commands) => commands.get('k')).catch(() => null) };
  };

  it('that hangs is left alone, and its connection is replaced with all that waits in it', async () => {
    const { server, redis, get } = await connect(() => null);
    const before = server.connections();
    for (let i = 0; i < 10; i += 1) await get();
    expect([redis.isReachable, server.commands()]).toEqual([false, 3]);
    for (let tries = 0; tries < 100 && server.connections() === before; tries += 1) await sleep(20);
    expect(server.connections()).toBeGreaterThan(before);
  });

  it('is asked again after a while, though the clock was set back meanwhile', async () => {
    const { server, get } = await connect(() => null);
    for (let i = 0; i < 4; i += 1) await get();
    const asked = server.commands();
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now - 3_600_000);
    for (let tries = 0; tries < 100 && server.commands() === asked; tries += 1) {
      await sleep(50);
      await get();
    }
    expect(server.commands()).toBeGreaterThan(asked);
  });

  it('that refuses is there', async () => {
    const { redis, server, get } = await connect(() => '-OOM command not allowed\r\n');
    for (let i = 0; i < 10; i += 1) await get();
    expect([redis.isReachable, server.commands()]).toEqual([true, 10]);
  });
});
