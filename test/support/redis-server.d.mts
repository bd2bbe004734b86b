import type { PrivateServer } from './postgres-server.mjs';

export interface PrivateRedis extends PrivateServer {
  keys(): Promise<string[]>;
  flush(): Promise<void>;
  /** Random bytes under every key that there is; answers how many there are. */
  fillWithRubbish(): Promise<number>;
  /** Every text becomes a value of another type. */
  makeLists(): Promise<void>;
  /** Every text gets the value of another key. */
  swapValues(): Promise<void>;
}

export function redisHome(): string | null;
export function startRedis(home: string): Promise<PrivateRedis>;
