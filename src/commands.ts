import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError, parseConfig } from './platform/config/config.js';
import type { Config, Purpose } from './platform/config/config.js';
import { platformKeyOf } from './platform/config/platform-key.js';
import { openDatabase } from './platform/database/open-database.js';
import { createLogger } from './platform/observability/logger.js';

/** `EX_CONFIG` of sysexits.h. */
const EXIT_CONFIG = 78;
const SHUTDOWN_MS = 10_000;

/** Says what a signal does from now on. */
export type OnSignal = (atSignal: (signal: NodeJS.Signals) => void) => void;

function readConfig(purpose: Purpose): Config {
  try {
    return parseConfig(process.env, purpose);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const mistake of error.mistakes) process.stderr.write(`toolcrib: ${mistake}\n`);
    process.exit(EXIT_CONFIG);
  }
}

/** A signal ends it at once: the migration that is under way is undone, and applied the next time. */
async function runMigrations(config: Config): Promise<void> {
  const { migrate, close } = await openDatabase(config);
  const applied = await migrate();
  process.stdout.write(applied.length === 0 ? 'nothing to apply\n' : `applied ${applied.join(', ')}\n`);
  await close();
}

async function serve(config: Config, onSignal: OnSignal): Promise<void> {
  const logger = createLogger(config.logLevel);
  const { key, isNew } = await platformKeyOf(config);
  if (isNew) process.stdout.write(`platform key, shown this once and kept in ${config.dataDir}/platform-key: ${key}\n`);
  // All that serves is loaded only now: neither a mistake in the settings nor a migration waits for it.
  const starting = import('./service.js').then(({ startService }) => startService(config, key, logger));
  const shutDown = async (signal: string): Promise<void> => {
    logger.info({ signal }, 'stopping');
    // An embedded database that is being made is made first: it is not left to chance whether half of one can be opened again.
    const service = await starting;
    const ended = await Promise.race([service.stop(), sleep(SHUTDOWN_MS, 'late', { ref: false })]);
    if (ended === 'late') logger.error('not everything could be finished in time');
    process.exit(ended === 'late' ? 1 : 0);
  };
  // Where it does not start, the process ends by that.
  onSignal((signal) => void shutDown(signal).catch(() => undefined));
  await starting;
}

/** Does what the command line says. A mistake ends the process. */
export async function run([command = 'serve']: readonly string[], onSignal: OnSignal): Promise<void> {
  const config = readConfig(command === 'migrate' ? 'migrate' : 'serve');
  try {
    if (command === 'migrate') await runMigrations(config);
    else if (command === 'serve') await serve(config, onSignal);
    else {
      process.stderr.write(`toolcrib: unknown command \`${command}\`; there are \`serve\` and \`migrate\`\n`);
      process.exitCode = 64;
    }
  } catch (error) {
    const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
    process.stderr.write(`toolcrib: ${taken ? `port ${config.port} is taken: set PORT` : String(error instanceof Error ? error.message : error)}\n`);
    process.exit(1);
  }
}
