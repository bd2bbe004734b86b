import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { LogLevel } from '../config/config.js';

export type { Logger };

/** JSON lines. Headers, bodies and arguments are never logged, so no key or password can be; the paths are a second fence. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  const options = { level, base: null, redact: { paths: ['*.authorization', '*.key', '*.password', 'authorization', 'key', 'password'], censor: '[hidden]' } };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Nest's own messages, which only matter when something is wrong with the wiring. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown): void {
    this.logger.debug({ from: 'nest' }, String(message));
  }

  warn(message: unknown): void {
    this.logger.warn({ from: 'nest' }, String(message));
  }

  /** What it tells here it throws as well, and that is told where it is caught. */
  error(message: unknown): void {
    this.logger.debug({ from: 'nest' }, String(message));
  }
}
