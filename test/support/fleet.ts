import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from '@jest/globals';
import type { PrivateServer } from './postgres-server.mjs';
import { postgresHome, startPostgres } from './postgres-server.mjs';
import type { ServiceProcess } from './process.js';
import { ask, listening, spawnService } from './process.js';
import type { PrivateRedis } from './redis-server.mjs';
import { redisHome, startRedis } from './redis-server.mjs';

export const FLEET_KEY = 'the-platform-key-of-the-replicas-0123456';

/** A suite that breaks servers of its own; the last lines of the run name what is not run for want of the programs. */
export const describeWithServers = postgresHome() === null || redisHome() === null ? describe.skip : describe;

/** A PostgreSQL and a Redis that may be broken: nobody else uses them. */
export interface Servers {
  readonly postgres: PrivateServer;
  readonly redis: PrivateRedis;
  stop(): Promise<void>;
}

export async function privateServers(): Promise<Servers> {
  const [postgres, redis] = await Promise.all([startPostgres(postgresHome() ?? ''), startRedis(redisHome() ?? '')]);
  return { postgres, redis, stop: () => Promise.all([postgres.stop(), redis.stop()]).then(() => undefined) };
}

export interface Replica {
  readonly url: string;
  readonly service: ServiceProcess;
}

export type Sent = Awaited<ReturnType<typeof ask>>;

/** Whether it holds within the time; looked at often. */
export async function becomes(holds: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await holds().catch(() => false)) return true;
    if (performance.now() >= deadline) return false;
    await sleep(25);
  }
}

export const isReady = async (url: string): Promise<boolean> => (await ask(url, null, 'GET', '/health/ready')).status === 200;

/** Replicas of one service, each a process of its own, of this build or of another. */
export class Fleet {
  /** Those that callers know of. */
  readonly replicas: Replica[] = [];
  private readonly services: ServiceProcess[] = [];

  constructor(private readonly environment: Readonly<Record<string, string>>, private readonly main?: string) {}

  /** Another replica, once it is ready, and has done what it is given to warm up with. */
  async add(more: Readonly<Record<string, string>> = {}, warmUp: (replica: Replica) => Promise<unknown> = () => Promise.resolve()): Promise<Replica> {
    const service = spawnService({ TOOLCRIB_PLATFORM_KEY: FLEET_KEY, ...this.environment, ...more }, [], this.main);
    this.services.push(service);
    const replica = { url: await listening(service), service };
    if (!(await becomes(() => isReady(replica.url), 60_000))) throw new Error(`the replica does not get ready: ${service.output().slice(-2_000)}`);
    await warmUp(replica);
    this.replicas.push(replica);
    return replica;
  }

  async kill({ service }: Replica): Promise<void> {
    const at = this.replicas.findIndex((replica) => replica.service === service);
    if (at >= 0) this.replicas.splice(at, 1);
    service.child.kill('SIGKILL');
    await service.ended;
  }

  async stop(): Promise<void> {
    this.replicas.splice(0);
    for (const { child } of this.services) child.kill('SIGKILL');
    await Promise.all(this.services.map(({ ended }) => ended));
  }

  /** What the replicas have logged as their own fault. */
  errors(): string[] {
    return this.services.flatMap(({ output }) => output().split('\n').filter((line) => line.startsWith('{"level":50') || line.startsWith('{"level":60')));
  }
}

export const fleetOn = ({ postgres, redis }: Servers, more: Readonly<Record<string, string>> = {}): Fleet => new Fleet({ DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...more });

/** A tenant with a key of every scope. */
export class FleetTenant {
  private constructor(
    readonly tenantId: string,
    readonly key: string,
  ) {}

  static async create({ url }: Replica, tenantId: string): Promise<FleetTenant> {
    const made = await ask(url, FLEET_KEY, 'POST', '/v1/tenants', { tenantId, name: tenantId });
    if (made.status !== 201) throw new Error(`no tenant: ${JSON.stringify(made.body)}`);
    const { body } = await ask(url, FLEET_KEY, 'POST', '/v1/keys', { name: 'all', scopes: ['admin'] }, { 'x-tenant-id': tenantId });
    return new FleetTenant(tenantId, body.key);
  }

  send({ url }: Replica, method: string, route: string, body?: unknown, headers: Record<string, string> = {}): Promise<Sent> {
    return ask(url, this.key, method, route, body, headers);
  }

  decide(replica: Replica, more: object = {}): Promise<Sent> {
    return this.send(replica, 'POST', '/v1/decide', { agentId: 'm', ...more });
  }

  /** Until the replica has answered once: on a busy machine its very first look may take longer than a request waits for. */
  async warmUp(replica: Replica, agentId = 'm'): Promise<void> {
    if (!(await becomes(async () => (await this.decide(replica, { agentId })).status === 200, 60_000))) throw new Error('a new replica answers nothing');
  }

  /** A tool on or off for the agent `m`; the revision. */
  async switch(replica: Replica, tool: string, on: boolean): Promise<number> {
    const { status, headers, body } = await this.send(replica, 'PUT', `/v1/agents/m/tools/${tool}/switch`, { on });
    if (status !== 200) throw new Error(`the switch failed: ${status} ${JSON.stringify(body)}`);
    return Number(headers.get('x-toolcrib-revision'));
  }
}
