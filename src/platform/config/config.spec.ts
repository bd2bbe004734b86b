import { describe, expect, it } from '@jest/globals';
import { ConfigError, DEFAULT_LIMITS, parseConfig } from './config.js';
import type { Purpose } from './config.js';

const mistakes = (environment: Record<string, string>, purpose?: Purpose): readonly string[] => {
  try {
    parseConfig(environment, purpose);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
};

describe('the configuration', () => {
  it('needs nothing on a laptop', () => {
    expect(parseConfig({})).toEqual({
      host: '127.0.0.1', port: 3000, databaseUrl: null, redisUrl: null, dataDir: '.toolcrib', platformKey: null, maxStalenessMs: 30_000, requestTimeoutMs: 30_000, migrate: true, logLevel: 'info', decisionLog: 0, oidc: null, limits: DEFAULT_LIMITS, rates: { perKey: 0, perTenant: 0 },
    });
    expect(DEFAULT_LIMITS).toEqual({ tools: 5_000, agents: 10_000, schemaSize: 65_536, expressionSize: 2_048, syncBytes: 33_554_432, bodyBytes: 262_144, listLength: 5_000, batchSize: 100, batchAnswerBytes: 33_554_432, jsonDepth: 64, viewBytes: 201_326_592, answerBytes: 33_554_432, streams: 5_000, concurrency: 1_000, queueMs: 1_000 });
  });

  it('takes an empty value for an unset one', () => {
    expect(parseConfig({ PORT: '', DATABASE_URL: ' ', TOOLCRIB_PLATFORM_KEY: '' })).toEqual(parseConfig({}));
  });

  it('takes a share of decisions to log, and nothing that is none', () => {
    const share = (text: string): number => parseConfig({ TOOLCRIB_DECISION_LOG: text }).decisionLog;
    expect(['', '0', '1', '0.05', '.5', '1.0'].map(share)).toEqual([0, 0, 1, 0.05, 0.5, 1]);
    for (const text of ['1.01', '-0.5', '5%', '1e-3', 'NaN', 'on', '.']) expect(mistakes({ TOOLCRIB_DECISION_LOG: text })).toEqual(['TOOLCRIB_DECISION_LOG must be a number from 0 to 1']);
  });

  it('needs a platform key beside a database, but not to migrate it', () => {
    expect(mistakes({ DATABASE_URL: 'postgresql://u:p@h/d' })).toEqual(['TOOLCRIB_PLATFORM_KEY is required with DATABASE_URL']);
    expect(mistakes({ DATABASE_URL: 'postgres://u:p@h/d', TOOLCRIB_PLATFORM_KEY: 'k'.repeat(32) })).toEqual([]);
    expect(mistakes({ DATABASE_URL: 'postgresql://u:p@h/d' }, 'migrate')).toEqual([]);
    expect(mistakes({ DATABASE_URL: 'postgresql://u:p@h/d', TOOLCRIB_PLATFORM_KEY: 'short' }, 'migrate')).toEqual(['TOOLCRIB_PLATFORM_KEY must have at least 32 characters']);
  });

  it('knows an address that is none', () => {
    const key = { TOOLCRIB_PLATFORM_KEY: 'k'.repeat(32) };
    expect(mistakes({ ...key, DATABASE_URL: 'postgresql://u:hunter2@h:port/d', REDIS_URL: 'redis://:hunter2@[::1' })).toEqual(['DATABASE_URL must be a URL', 'REDIS_URL must be a URL']);
    expect(mistakes({ ...key, DATABASE_URL: 'postgresql:///d?host=/var/run/postgresql', REDIS_URL: 'rediss://h' })).toEqual([]);
  });

  it('tells every mistake at once and never a value', () => {
    const told = mistakes({ PORT: '70000', LOG_LEVEL: 'loud', TOOLCRIB_MIGRATE: 'maybe', TOOLCRIB_MAX_TOOLS: '-3', TOOLCRIB_PLATFORM_KEY: 'hunter2', TOOLCRIB_TYPO: 'x', OTHER: 'fine' });
    expect(told).toHaveLength(6);
    expect(told.join()).not.toMatch(/70000|loud|maybe|-3|hunter2/u);
  });
});
