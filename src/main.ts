import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError, parseConfig } from './platform/config/config.js';
import type { Config, Purpose } from './platform/config/config.js';
import { platformKeyOf } from './platform/config/platform-key.js';
import { migrate } from './platform/database/migrate.js';
import { createLogger } from './platform/observability/logger.js';
import { openDatabase, startService } from './service.js';

/** `EX_CONFIG` of sysexits.h. */
const EXIT_CONFIG = 78;
const SHUTDOWN_MS = 10_000;

function readConfig(purpose: Purpose): Config {
  try {
    return parseConfig(process.env, purpose);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const mistake of error.mistakes) process.stderr.write(`toolcrib: ${mistake}\n`);
    process.exit(EXIT_CONFIG);
  }
}

async function runMigrations(config: Config): Promise<void> {
  const { database, close } = await openDatabase(config);
  const applied = await migrate(database.pool);
  process.stdout.write(applied.length === 0 ? 'nothing to apply\n' : `applied ${applied.join(', ')}\n`);
  await close();
}

async function serve(config: Config): Promise<void> {
  const logger = createLogger(config.logLevel);
  const { key, isNew } = await platformKeyOf(config);
  if (isNew) process.stdout.write(`platform key, shown this once and kept in ${config.dataDir}/platform-key: ${key}\n`);
  const service = await startService(config, key, logger);
  const shutDown = async (signal: string): Promise<void> => {
    logger.info({ signal }, 'stopping');
    const late = sleep(SHUTDOWN_MS, 'late', { ref: false });
    const ended = await Promise.race([service.stop(), late]);
    if (ended === 'late') logger.error('not everything could be finished in time');
    process.exit(ended === 'late' ? 1 : 0);
  };
  process.once('SIGTERM', (signal) => void shutDown(signal));
  process.once('SIGINT', (signal) => void shutDown(signal));
}

const [command = 'serve'] = process.argv.slice(2);
const config = readConfig(command === 'migrate' ? 'migrate' : 'serve');
try {
  if (command === 'migrate') await runMigrations(config);
  else if (command === 'serve') await serve(config);
  else {
    process.stderr.write(`toolcrib: unknown command \`${command}\`; there are \`serve\` and \`migrate\`\n`);
    process.exitCode = 64;
  }
} catch (error) {
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  process.stderr.write(`toolcrib: ${taken ? `port ${config.port} is taken: set PORT` : String(error instanceof Error ? error.message : error)}\n`);
  process.exit(1);
}
