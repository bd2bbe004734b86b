import { mkdir, writeFile } from 'node:fs/promises';
import { createApp } from './create-app.js';
import { buildDocument } from './openapi.js';
import { parseConfig } from './platform/config/config.js';
import { Database, connectionPool } from './platform/database/database.js';
import { DatabaseLooks } from './platform/database/looks.js';
import { createLogger } from './platform/observability/logger.js';
import { Metrics } from './platform/observability/metrics.js';

/** Rewrites `openapi/openapi.json`. Nothing is connected to: the document needs the routes alone. */
const pool = connectionPool('postgresql://localhost');
const app = await createApp({
  config: parseConfig({}),
  platformKey: '',
  database: new Database(pool),
  looks: new DatabaseLooks(pool),
  logger: createLogger('warn'),
  metrics: new Metrics(),
});
await app.init();
await mkdir('openapi', { recursive: true });
await writeFile('openapi/openapi.json', `${JSON.stringify(buildDocument(app), null, 2)}\n`);
await app.close();
process.stdout.write('wrote openapi/openapi.json\n');
