/** A server on loopback with the ways in which it can fail. */
export interface PrivateServer {
  readonly url: string;
  /** SIGKILL, to all of its processes. */
  kill(): Promise<void>;
  /** On the same port, with what it had kept. */
  restart(): Promise<void>;
  /** It accepts and never answers. */
  pause(): void;
  resume(): void;
  /** For good. */
  stop(): Promise<void>;
}

export function postgresHome(): string | null;
export function startPostgres(home: string): Promise<PrivateServer>;
