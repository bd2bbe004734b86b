import { OIDC_NAMES, readOidc } from './oidc.js';
import type { OidcConfig } from './oidc.js';

/** What the process is told by its environment, parsed once at start. */
export interface Config {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Null: the embedded database in `dataDir`. */
  readonly databaseUrl: string | null;
  /** Null: the replica shares nothing with others but the database. */
  readonly redisUrl: string | null;
  readonly dataDir: string;
  /** Null in embedded mode alone: then a key is made once and kept in the data folder. */
  readonly platformKey: string | null;
  /** Milliseconds that an answer may be old while the database is away. */
  readonly maxStalenessMs: number;
  /** Milliseconds by which a request must have arrived whole. */
  readonly requestTimeoutMs: number;
  /** Whether migrations are applied at start. */
  readonly migrate: boolean;
  readonly logLevel: LogLevel;
  /** The share of decisions that are logged, from 0 to 1. */
  readonly decisionLog: number;
  /** Null: keys alone. */
  readonly oidc: OidcConfig | null;
  readonly limits: Limits;
  readonly rates: Rates;
}

/** Requests a minute, of all replicas together where they share a Redis; 0 for as many as one likes. */
export interface Rates {
  readonly perKey: number;
  readonly perTenant: number;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Beyond each a clear 413 or 422; 503 beyond what one replica takes at once. */
export interface Limits {
  readonly tools: number;
  readonly agents: number;
  readonly schemaSize: number;
  readonly expressionSize: number;
  readonly syncBytes: number;
  readonly bodyBytes: number;
  readonly listLength: number;
  readonly batchSize: number;
  readonly batchAnswerBytes: number;
  readonly jsonDepth: number;
  /** Memory for views, about, and for whole answers. */
  readonly viewBytes: number;
  readonly answerBytes: number;
  /** Open at once in this process. */
  readonly streams: number;
  /** Under way at once in this process, streams aside. */
  readonly concurrency: number;
  /** Milliseconds that requests may have waited before some are refused. */
  readonly queueMs: number;
}

/** The environment's name of each limit, with its default. */
const LIMITS: Readonly<Record<keyof Limits, readonly [name: string, fallback: number]>> = {
  tools: ['TOOLCRIB_MAX_TOOLS', 5_000],
  agents: ['TOOLCRIB_MAX_AGENTS', 10_000],
  schemaSize: ['TOOLCRIB_MAX_SCHEMA_BYTES', 64 * 1024],
  expressionSize: ['TOOLCRIB_MAX_EXPRESSION_BYTES', 2_048],
  syncBytes: ['TOOLCRIB_MAX_SYNC_BYTES', 32 * 1024 * 1024],
  bodyBytes: ['TOOLCRIB_MAX_BODY_BYTES', 256 * 1024],
  listLength: ['TOOLCRIB_MAX_LIST_LENGTH', 5_000],
  batchSize: ['TOOLCRIB_MAX_BATCH', 100],
  batchAnswerBytes: ['TOOLCRIB_MAX_BATCH_ANSWER_BYTES', 32 * 1024 * 1024],
  jsonDepth: ['TOOLCRIB_MAX_JSON_DEPTH', 64],
  // A thousand tenants of a hundred terse tools and twenty agents.
  viewBytes: ['TOOLCRIB_MAX_VIEW_BYTES', 192 * 1024 * 1024],
  answerBytes: ['TOOLCRIB_MAX_ANSWER_BYTES', 32 * 1024 * 1024],
  streams: ['TOOLCRIB_MAX_STREAMS', 5_000],
  concurrency: ['TOOLCRIB_MAX_CONCURRENCY', 1_000],
  queueMs: ['TOOLCRIB_MAX_QUEUE_MS', 1_000],
};

export const DEFAULT_LIMITS = Object.fromEntries(Object.entries(LIMITS).map(([limit, [, fallback]]) => [limit, fallback])) as unknown as Limits;

const OTHER_NAMES = ['TOOLCRIB_DATA_DIR', 'TOOLCRIB_PLATFORM_KEY', 'TOOLCRIB_MAX_STALENESS_MS', 'TOOLCRIB_REQUEST_TIMEOUT_MS', 'TOOLCRIB_MIGRATE', 'TOOLCRIB_RATE_PER_KEY', 'TOOLCRIB_RATE_PER_TENANT', 'TOOLCRIB_DECISION_LOG'];
const KNOWN = new Set<string>([...OTHER_NAMES, ...OIDC_NAMES, ...Object.values(LIMITS).map(([name]) => name)]);

/** All that is wrong with the environment, a line each. A line names the key and never its value. */
export class ConfigError extends Error {
  constructor(readonly mistakes: readonly string[]) {
    super(mistakes.join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What the process is started for. Who migrates serves nobody: it needs no platform key, and is best not given one. */
export type Purpose = 'serve' | 'migrate';

/** Throws {@link ConfigError} with every mistake at once. An empty value counts as unset. */
export function parseConfig(environment: Environment, purpose: Purpose = 'serve'): Config {
  const mistakes: string[] = [];
  const read = (name: string): string | null => environment[name]?.trim() || null;
  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const text = read(name);
    if (text === null) return fallback;
    if (/^\d+$/u.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    mistakes.push(`${name} must be a whole number from ${min} to ${max}`);
    return fallback;
  };
  const share = (name: string): number => {
    const text = read(name) ?? '0';
    if (/^(?:\d+(?:\.\d+)?|\.\d+)$/u.test(text) && Number(text) <= 1) return Number(text);
    mistakes.push(`${name} must be a number from 0 to 1`);
    return 0;
  };
  const oneOf = <T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
    const text = read(name);
    const found = allowed.find((value) => value === (text ?? fallback));
    if (found === undefined) mistakes.push(`${name} must be one of ${allowed.join(', ')}`);
    return found ?? fallback;
  };
  const config: Config = {
    host: read('HOST') ?? '127.0.0.1',
    port: integer('PORT', 3000, 0, 65_535),
    databaseUrl: read('DATABASE_URL'),
    redisUrl: read('REDIS_URL'),
    dataDir: read('TOOLCRIB_DATA_DIR') ?? '.toolcrib',
    platformKey: read('TOOLCRIB_PLATFORM_KEY'),
    maxStalenessMs: integer('TOOLCRIB_MAX_STALENESS_MS', 30_000, 0, 86_400_000),
    requestTimeoutMs: integer('TOOLCRIB_REQUEST_TIMEOUT_MS', 30_000, 100, 3_600_000),
    migrate: oneOf('TOOLCRIB_MIGRATE', ['on', 'off'], 'on') === 'on',
    logLevel: oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    decisionLog: share('TOOLCRIB_DECISION_LOG'),
    oidc: readOidc({ read, integer, mistakes }),
    limits: Object.fromEntries(Object.entries(LIMITS).map(([limit, [name, fallback]]) => [limit, integer(name, fallback, 1, 2 ** 31)])) as unknown as Limits,
    rates: { perKey: integer('TOOLCRIB_RATE_PER_KEY', 0, 0, 2 ** 31), perTenant: integer('TOOLCRIB_RATE_PER_TENANT', 0, 0, 2 ** 31) },
  };
  mistakes.push(...crossFaults(config, purpose), ...unknownNames(environment));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

function addressFaults(name: string, url: string | null, beginnings: readonly string[]): string[] {
  if (url === null) return [];
  if (!beginnings.some((beginning) => url.startsWith(beginning))) return [`${name} must begin with ${beginnings.join(' or ')}`];
  return URL.canParse(url) ? [] : [`${name} must be a URL`];
}

function crossFaults({ databaseUrl, redisUrl, platformKey }: Config, purpose: Purpose): string[] {
  const faults = [...addressFaults('DATABASE_URL', databaseUrl, ['postgres://', 'postgresql://']), ...addressFaults('REDIS_URL', redisUrl, ['redis://', 'rediss://'])];
  if (databaseUrl !== null && platformKey === null && purpose === 'serve') faults.push('TOOLCRIB_PLATFORM_KEY is required with DATABASE_URL');
  if (platformKey !== null && platformKey.length < 32) faults.push('TOOLCRIB_PLATFORM_KEY must have at least 32 characters');
  return faults;
}

const unknownNames = (environment: Environment): string[] =>
  Object.keys(environment).filter((name) => name.startsWith('TOOLCRIB_') && !KNOWN.has(name)).sort().map((name) => `${name} is not a known setting`);
