import type { ServerResponse } from 'node:http';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AppError } from '../platform/errors/app-error.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import { ChangeFeed } from './change-feed.js';
import { ChangeStore } from './change.store.js';
import { ChangeStreams } from './change-streams.js';

const TENANT = 't' as TenantId;

/** A tenant to which nothing happens, found at the pace of the test. */
class QuietStore extends ChangeStore {
  pace: Promise<unknown> = Promise.resolve();
  points = async () => new Map([[TENANT, { incarnation: 'i', revision: 3 }]]);
  since = async () => {
    await this.pace;
    return { incarnation: 'i', revision: 3, changes: [] };
  };
}

describe('open streams', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0).reverse()) close();
  });

  const setUp = async (options: { most?: number; heartbeatMs?: number } = {}) => {
    const store = new QuietStore();
    const metrics = new Metrics();
    const feed = new ChangeFeed(store, store, metrics, { most: 10, everyMs: 60_000, maxStalenessMs: 30_000, now: () => performance.now() });
    const streams = new ChangeStreams(feed, metrics, { most: 5, heartbeatMs: 60_000, unsentBytes: 1_000, ...options });
    const ends: ((why: 'key' | 'stale') => void)[] = [];
    const respond = (response: ServerResponse) => (revision: number) => response.writeHead(200, { revision: String(revision), connection: 'close' });
    const watch = (end: (why: 'key' | 'stale') => void) => {
      ends.push(end);
      return () => undefined;
    };
    const server = http.createServer((_, response) => {
      streams.begin(TENANT, null, { respond: respond(response), watch }).catch((error: unknown) => response.writeHead(error instanceof AppError ? 503 : 500).end(error instanceof AppError ? error.code : String(error)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close(), () => server.closeAllConnections(), () => streams.onModuleDestroy());
    const connect = () => {
      const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
      closing.push(() => socket.destroy());
      let text = '';
      let closed = false;
      socket.on('data', (chunk: Buffer) => (text += chunk.toString())).on('close', () => (closed = true)).on('error', () => undefined);
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      return { socket, text: () => text, isClosed: () => closed };
    };
    const value = async (name: string): Promise<string | undefined> => new RegExp(`^${name} (\\d+)$`, 'mu').exec(await metrics.registry.metrics())?.[1];
    return { store, streams, ends, connect, value };
  };
  const until = async (holds: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 1_000 && !holds(); tries += 1) await sleep(5);
    expect(holds()).toBe(true);
  };

  it('are kept alive by a comment now and then', async () => {
    const { connect } = await setUp({ heartbeatMs: 10 });
    const { text } = connect();
    await until(() => text().split('\r\n:\n\n\r\n').length > 3);
    expect(text()).toMatch(/: changes\nretry: 1000\nid: 3\n\n/u);
  });

  it('are no more than the process carries, those that are being opened included', async () => {
    const { store, connect, value } = await setUp({ most: 2 });
    let release = (): void => undefined;
    store.pace = new Promise<void>((resolve) => (release = resolve));
    const first = connect();
    await sleep(20);
    const rest = [connect(), connect()];
    await until(() => rest.some(({ text }) => text().includes('TOO_MANY_STREAMS')));
    release();
    await until(() => [first, ...rest].filter(({ text }) => text().includes('retry')).length === 2);
    expect(await value('toolcrib_change_streams')).toBe('2');
    first.socket.destroy();
    for (let tries = 0; tries < 100 && (await value('toolcrib_change_streams')) !== '1'; tries += 1) await sleep(5);
    const next = connect();
    await until(() => next.text().includes('retry'));
  });

  it('end at once when they must, with what was sent before', async () => {
    const { streams, ends, connect, value } = await setUp();
    const [revoked, stays, stays2] = [connect(), connect(), connect()];
    await until(() => [revoked, stays, stays2].every(({ text }) => text().includes('retry')));
    for (const end of ends.slice(0, 1)) end('key');
    await until(() => [revoked, stays, stays2].filter(({ isClosed }) => isClosed()).length === 1);
    streams.onModuleDestroy();
    await until(() => [revoked, stays, stays2].every(({ isClosed, text }) => isClosed() && text().endsWith('0\r\n\r\n')));
    expect([await value('toolcrib_change_streams'), await value('toolcrib_change_streams_ended_total\\{reason="shutdown"\\}')]).toEqual(['0', '2']);
    const late = connect();
    await until(() => late.text().includes('TOO_MANY_STREAMS'));
  });

  it('leave nothing behind where the client went before there was one', async () => {
    const { store, connect, value } = await setUp();
    let release = (): void => undefined;
    store.pace = new Promise<void>((resolve) => (release = resolve));
    const { socket } = connect();
    await sleep(30);
    socket.destroy();
    await sleep(30);
    release();
    for (let tries = 0; tries < 100 && (await value('toolcrib_change_streams_ended_total\\{reason="client"\\}')) !== '1'; tries += 1) await sleep(5);
    expect([await value('toolcrib_change_streams'), await value('toolcrib_change_streams_ended_total\\{reason="client"\\}')]).toEqual(['0', '1']);
  });
});
