import { mkdir, rm } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { Duplex } from 'node:stream';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';

/** Another process has this data folder open. */
export class DataFolderInUse extends Error {}

export interface EmbeddedDatabase {
  readonly pool: pg.Pool;
  /** After the pool has ended. */
  readonly close: () => Promise<void>;
}

/** The first byte of the protocol's Terminate message: the connection goes, the database stays. */
const TERMINATE = 0x58;

/**
 * One connection of the `pg` protocol to a PostgreSQL inside this process, without a socket that anybody else could reach.
 * The driver writes whole messages, and what it writes together is answered together.
 */
class EmbeddedStream extends Duplex {
  constructor(private readonly database: PGlite) {
    super();
  }

  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }

  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  ref = (): this => this;
  unref = (): this => this;

  override _read(): void {
    // Answers are pushed when the database gives them.
  }

  override _write(message: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.ask(message, done);
  }

  override _writev(messages: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this.ask(Buffer.concat(messages.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  private ask(message: Buffer, done: (error?: Error) => void): void {
    if (message[0] === TERMINATE) {
      done();
      return;
    }
    this.database.runExclusive(() => this.database.execProtocolRaw(message)).then((answer) => {
      if (answer.length > 0) this.push(Buffer.from(answer));
      done();
    }, done);
  }
}

/** Opens the database in `dataDir`, or one in memory for null. The single connection makes its transactions follow one another. */
export async function openEmbedded(dataDir: string | null): Promise<EmbeddedDatabase> {
  const lock = dataDir === null ? null : await lockFolder(dataDir);
  const database = await PGlite.create(dataDir === null ? {} : { dataDir: path.join(dataDir, 'postgres') });
  const stream = (): EmbeddedStream => new EmbeddedStream(database);
  const pool = new pg.Pool({ max: 1, idleTimeoutMillis: 0, user: 'postgres', database: 'postgres', stream });
  return {
    pool,
    close: async () => {
      await database.close();
      await lock?.release();
    },
  };
}

interface FolderLock {
  release(): Promise<void>;
}

/** A listening socket that dies with its process, however that ends: no stale lock is ever left to be guessed at. */
async function lockFolder(dataDir: string): Promise<FolderLock> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const address = lockAddress(path.resolve(dataDir));
  if (await isAnswered(address)) throw new DataFolderInUse(`the data folder \`${dataDir}\` is in use by another process`);
  if (process.platform !== 'win32') await rm(address, { force: true });
  const server = net.createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(new DataFolderInUse(`the data folder \`${dataDir}\` can not be locked`)));
    server.listen(address, resolve);
  });
  server.unref();
  return { release: () => new Promise((resolve) => { server.close(() => resolve()); }) };
}

/** Socket paths are short: where the absolute one is too long, the one from the working folder may do. */
function lockAddress(dataDir: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\toolcrib-${dataDir.replace(/[^A-Za-z0-9]/gu, '-')}`;
  const absolute = path.join(dataDir, 'lock');
  return absolute.length < 100 ? absolute : path.relative(process.cwd(), absolute);
}

const isAnswered = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
