import type { ServerResponse } from 'node:http';
import type { Ending, Listener } from './channel.js';

/** A client that takes in nothing for so long while it catches up is cut off. */
const DRAIN_TIMEOUT_MS = 15_000;

/** One client's open response. What it has not taken in is bounded: `unsentBytes`, and what was sent together beyond. */
export class EventStream implements Listener {
  private endedBy: Ending | null = null;

  constructor(
    private readonly response: ServerResponse,
    private readonly unsentBytes: number,
    private readonly onEnd: (why: Ending) => void,
  ) {
    response.on('error', () => undefined);
    // An answer behind another one on its connection is not told when that breaks.
    response.req.socket.once('close', () => this.ended('client'));
    response.once('close', () => {
      this.ended('client');
      // The framework takes note of answers that finish or fail; one whose connection broke has done neither.
      if (!response.writableFinished) response.emit('error', new Error('the connection of a stream was closed'));
    });
  }

  get isOpen(): boolean {
    return this.endedBy === null;
  }

  /** The bytes are shared by all who are sent them, also while they wait. */
  send(frames: Buffer): void {
    if (!this.isOpen) return;
    if (this.response.writableLength > this.unsentBytes) this.end('slow');
    else this.response.write(frames);
  }

  async drained(): Promise<void> {
    if (!this.isOpen || !this.response.writableNeedDrain) return;
    const { response } = this;
    await new Promise<void>((resolve) => {
      const late = setTimeout(() => this.end('slow'), DRAIN_TIMEOUT_MS);
      const done = (): void => {
        clearTimeout(late);
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }

  /** At once: nobody waits for a client to take in the rest. */
  end(why: Ending): void {
    if (!this.isOpen) return;
    this.ended(why);
    if (this.response.writableLength > 0) this.response.destroy();
    else this.response.end();
  }

  private ended(why: Ending): void {
    if (this.endedBy !== null) return;
    this.endedBy = why;
    this.onEnd(why);
  }
}
