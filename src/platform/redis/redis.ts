import type { CircuitBreakerPolicy } from 'cockatiel';
import { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel';
import { Redis } from 'ioredis';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import { NO_TRACING } from '../observability/tracing.js';

/** A command that takes longer counts as failed: what it would find can be computed anew in less. */
const COMMAND_TIMEOUT_MS = 200;
const CONNECT_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;
/** So many failures one after another, and no command is sent for a while. */
const FAILURES = 3;
const OPEN_MS = 1_000;

const SPAN = { 'db.system.name': 'redis' };

const STATES: readonly (readonly [CircuitState, string])[] = [[CircuitState.Closed, 'closed'], [CircuitState.HalfOpen, 'half-open'], [CircuitState.Open, 'open']];

/**
 * The Redis that replicas share. Nothing that is answered depends on it: every command ends soon, one way or the other, and
 * while it fails a breaker keeps everybody from waiting for it.
 */
export class SharedRedis {
  private breaker: CircuitBreakerPolicy;
  /** When it opened, by a clock that never jumps. */
  private openedAt = -Infinity;
  private readonly commands: Redis;
  private readonly clients: Redis[] = [];
  private isUp = false;

  constructor(
    private readonly url: string,
    private readonly logger: Logger,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing = NO_TRACING,
  ) {
    this.breaker = this.newBreaker();
    this.commands = this.connect();
    this.commands.on('ready', () => this.note(true));
    this.commands.on('close', () => this.note(false));
  }

  /** As the last command, or the connection, had it. */
  get isReachable(): boolean {
    return this.isUp && this.breaker.state === CircuitState.Closed;
  }

  /** Throws when Redis does not answer in time, or is not asked because it did not before. */
  run<T>(command: (redis: Redis) => Promise<T>): Promise<T> {
    // The breaker goes by the wall clock: one that was set back would keep it open for as long.
    if (this.breaker.state === CircuitState.Open && performance.now() - this.openedAt > 2 * OPEN_MS) this.breaker = this.newBreaker();
    return this.tracing.span('redis', SPAN, () => this.breaker.execute(() => command(this.commands)));
  }

  private newBreaker(): CircuitBreakerPolicy {
    // A refusal is an answer: Redis is there, though it may be full or read-only.
    const breaker = circuitBreaker(handleWhen((error) => error.name !== 'ReplyError'), { halfOpenAfter: OPEN_MS, breaker: new ConsecutiveBreaker(FAILURES) });
    const show = (state: CircuitState): void => {
      for (const [of, name] of STATES) this.metrics.breakerState.set({ dependency: 'redis', state: name }, of === state ? 1 : 0);
    };
    show(breaker.state);
    breaker.onStateChange(show);
    breaker.onBreak(() => {
      this.openedAt = performance.now();
      // What a hung one has not answered would pile up in its connection.
      this.commands.disconnect(true);
    });
    return breaker;
  }

  /** A connection of its own, for messages. */
  connect(): Redis {
    const client = new Redis(this.url, {
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout: COMMAND_TIMEOUT_MS,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      keepAlive: 10_000,
      retryStrategy: (tries) => Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 10), LONGEST_RETRY_MS),
    });
    // Unheard, it would end the process; `note` tells of it once.
    client.on('error', () => undefined);
    this.clients.push(client);
    return client;
  }

  close(): void {
    for (const client of this.clients) client.disconnect();
  }

  private note(isUp: boolean): void {
    if (this.isUp === isUp) return;
    this.isUp = isUp;
    this.logger[isUp ? 'info' : 'warn']({ redis: isUp ? 'up' : 'unreachable' }, isUp ? 'Redis is there' : 'Redis is away: decisions go on without it');
  }
}
