import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Tally } from './tallies.js';

declare module 'node:http' {
  interface IncomingMessage {
    /** Of the trace that the request belongs to; only where traces are on. */
    traceId?: string;
  }
}

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Adds to a span what was found out meanwhile. */
export type Tell = (attributes: Attributes) => void;

/** How a request ended. */
export interface Ended {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly tenant: string | null;
}

/**
 * Tells a collector what each request did, as spans. What runs outside of a request (looks, sweeps) makes none. Attributes never
 * hold a key, an argument, a body or a value of a statement.
 */
export abstract class Tracing {
  /** Where it is not, nothing here need be called. */
  abstract readonly isOn: boolean;
  /** Begins the span of a request, and does `work` within it. */
  abstract serve(request: IncomingMessage, response: ServerResponse, work: () => void): void;
  /** Goes on within a request: the events of a connection come on a road of their own. */
  abstract within<T>(request: IncomingMessage, work: () => T): T;
  /** Adds to the span of the request that is answered here, where it is recorded. */
  abstract note(attributes: () => Attributes): void;
  abstract end(request: IncomingMessage, ended: Ended): void;
  /** Does `work` as a span beneath the one that it is called in. */
  abstract span<T>(name: string, attributes: Attributes, work: (tell: Tell) => Promise<T>): Promise<T>;
  /** The tally, which leaves a span of no length as well where it counts; one of a kind in a request. */
  abstract told(tally: Tally, name: string, attributes: Attributes): Tally;
  /** Sends what is left, and gives up soon. */
  abstract close(): Promise<void>;
}

class NoTracing extends Tracing {
  override readonly isOn = false;

  override serve(_request: IncomingMessage, _response: ServerResponse, work: () => void): void {
    work();
  }

  override within<T>(_request: IncomingMessage, work: () => T): T {
    return work();
  }

  override note(): void {
    // There is nobody to tell.
  }

  override end(): void {
    // Nothing was begun.
  }

  override span<T>(_name: string, _attributes: Attributes, work: (tell: Tell) => Promise<T>): Promise<T> {
    return work(() => undefined);
  }

  override told(tally: Tally): Tally {
    return tally;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }
}

/** No collector is named. */
export const NO_TRACING: Tracing = new NoTracing();
