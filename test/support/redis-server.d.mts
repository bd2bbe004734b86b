import type { PrivateServer } from './postgres-server.mjs';

export interface PrivateRedis extends PrivateServer {
  keys(): Promise<string[]>;
  flush(): Promise<void>;
  /** Random bytes under every key that there is; answers how many there are. */
  fillWithRubbish(): Promise<number>;
}

export function redisHome(): string | null;
export function startRedis(home: string): Promise<PrivateRedis>;
