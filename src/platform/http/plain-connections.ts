import type { Server } from 'node:http';
import { IncomingMessage, STATUS_CODES, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Outgoing } from './front.js';
import type { PlainRequest } from './plain-request.js';
import { PlainReader } from './plain-request.js';

export interface PlainServing {
  /** A request for another path takes its connection to Node. */
  readonly paths: ReadonlySet<string>;
  /** What can be said at once; null leaves it to `behind`. */
  readonly answer: (request: PlainRequest, socket: Socket) => Outgoing | null;
  /** Answers as the server would have it answered. */
  readonly behind: (request: IncomingMessage, response: ServerResponse) => void;
}

/**
 * Serves connections ahead of Node's own HTTP, as long as every request on them is plain, whole and for one of the paths: nothing
 * is made for it then but its answer. The first that is anything else takes its connection to Node's parser, for good. Answers a
 * function that ends those that are still here, each after what is under way on it, and cuts off what is left `drainMs` later.
 */
export function servePlainConnections(server: Server, serving: PlainServing): (drainMs: number) => void {
  const [toParser] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (toParser === undefined) throw new Error('there is no parser to hand connections to');
  const open = new Set<PlainConnection>();
  const around = { server, serving, outbox: new Outbox(), toParser, forget: (connection: PlainConnection) => open.delete(connection) };
  server.removeListener('connection', toParser);
  server.on('connection', (socket: Socket) => open.add(new PlainConnection(socket, around)));
  return (drainMs) => {
    for (const connection of open) connection.endSoon();
    setTimeout(() => {
      for (const connection of open) connection.breakOff();
    }, drainMs).unref();
  };
}

/** No answer waits longer for those after it. */
const MOST_HELD_MS = 2;

/**
 * Answers go out together at the end of a turn of the event loop, for each wakes its reader, and one that is awake already costs
 * half: the first is hardly later for it, and all others are sooner.
 */
class Outbox {
  private waiting: PlainConnection[] = [];
  private since = 0;
  private isDue = false;

  add(connection: PlainConnection): void {
    const now = performance.now();
    if (this.waiting.length === 0) this.since = now;
    this.waiting.push(connection);
    if (now - this.since > MOST_HELD_MS) this.send();
    else if (!this.isDue) this.sendSoon();
  }

  private sendSoon(): void {
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      this.send();
    });
  }

  private send(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const connection of waiting) connection.send();
  }
}

/** In bytes. A client that does not read what it asked for is Node's to deal with. */
const MOST_UNSENT = 256 * 1024;
/** A connection is kept so much longer than is said, as Node does: clients ask until the last moment. */
const KEPT_LONGER_MS = 1_000;

interface Surroundings {
  readonly server: Server;
  readonly serving: PlainServing;
  readonly outbox: Outbox;
  readonly toParser: (socket: Socket) => void;
  readonly forget: (connection: PlainConnection) => void;
}

class PlainConnection {
  private readonly reader = new PlainReader();
  private readonly events = {
    data: this.take.bind(this),
    drain: () => this.underWay?.emit('drain'),
    end: this.hangUp.bind(this),
    error: this.breakOff.bind(this),
    timeout: this.giveUp.bind(this),
    close: () => this.around.forget(this),
  };
  private hasServed = false;
  private isEnding = false;
  /** To be sent at the end of the turn. */
  private answer: Outgoing | null = null;
  /** By `behind`. */
  private underWay: ServerResponse | null = null;
  /** What came meanwhile. */
  private held: Buffer | null = null;

  constructor(
    private readonly socket: Socket,
    private readonly around: Surroundings,
  ) {
    for (const [event, listener] of Object.entries(this.events)) socket.on(event, listener);
    socket.setTimeout(around.server.headersTimeout);
  }

  /** After what is under way. */
  endSoon(): void {
    this.isEnding = true;
    if (this.underWay !== null) return;
    this.send();
    this.socket.destroySoon();
  }

  breakOff(): void {
    this.socket.destroy();
  }

  send(): void {
    const { socket, answer } = this;
    if (answer === null) return;
    this.answer = null;
    socket.cork();
    socket.write(headOf(answer, this.around.server.keepAliveTimeout), 'latin1');
    if (answer.body !== null) socket.write(answer.body);
    socket.uncork();
  }

  private take(chunk: Buffer): void {
    if (this.underWay !== null) {
      this.socket.pause();
      this.held = this.held === null ? chunk : Buffer.concat([this.held, chunk]);
      return;
    }
    // Nothing is done that comes behind an answer that was the last.
    if (this.isEnding) return;
    this.send();
    const { serving, outbox } = this.around;
    const request = this.socket.writableLength <= MOST_UNSENT ? this.reader.read(chunk) : null;
    if (request === null || !serving.paths.has(request.path)) {
      this.handOver(chunk);
      return;
    }
    if (!this.hasServed) this.keep();
    this.answer = serving.answer(request, this.socket);
    if (this.answer === null) this.leaveBehind(request);
    else outbox.add(this);
  }

  private keep(): void {
    this.hasServed = true;
    this.socket.setTimeout(this.around.server.keepAliveTimeout + KEPT_LONGER_MS);
  }

  /** As Node's own server has a request answered, but that the connection stays here. */
  private leaveBehind({ path, headers, rawHeaders, body }: PlainRequest): void {
    const { socket, around: { server, serving } } = this;
    const request = new IncomingMessage(socket);
    Object.assign(request, { method: 'POST', url: path, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true, rawHeaders: [...rawHeaders], headers: { ...headers } });
    request.push(body);
    request.push(null);
    const response = new ServerResponse(request);
    response.setHeader('keep-alive', keepAlive(server.keepAliveTimeout));
    response.assignSocket(socket);
    this.underWay = response;
    socket.setTimeout(0);
    response.once('finish', () => this.goOn(response));
    serving.behind(request, response);
  }

  private goOn(response: ServerResponse): void {
    const { socket, held } = this;
    response.detachSocket(socket);
    process.nextTick(() => response.emit('close'));
    this.underWay = null;
    this.held = null;
    if (this.isEnding || isLast(response)) {
      this.endSoon();
      return;
    }
    this.keep();
    if (held !== null) this.take(held);
    socket.resume();
  }

  private handOver(chunk: Buffer): void {
    const { socket, around } = this;
    for (const [event, listener] of Object.entries(this.events)) socket.removeListener(event, listener);
    socket.setTimeout(0);
    around.forget(this);
    around.toParser.call(around.server, socket);
    socket.unshift(chunk);
  }

  private hangUp(): void {
    this.send();
    this.socket.end();
  }

  private giveUp(): void {
    const late = Object.assign(new Error('nothing came'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    if (this.hasServed) this.breakOff();
    else this.around.server.emit('clientError', late, this.socket);
  }
}

/** Whether whoever answered said that the connection ends with it. */
const isLast = (response: ServerResponse): boolean => !response.shouldKeepAlive || String(response.getHeader('connection')).toLowerCase() === 'close';

const keepAlive = (ms: number): string => `timeout=${Math.floor(ms / 1_000)}`;

function headOf({ status, headers }: Outgoing, keepAliveMs: number): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let i = 0; i + 1 < headers.length; i += 2) head += `${headers[i] ?? ''}: ${headers[i + 1] ?? ''}\r\n`;
  return `${head}date: ${httpDate()}\r\nconnection: keep-alive\r\nkeep-alive: ${keepAlive(keepAliveMs)}\r\n\r\n`;
}

let date = { second: 0, text: '' };

/** The same for a whole second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (date.second !== second) date = { second, text: new Date(second * 1_000).toUTCString() };
  return date.text;
}
