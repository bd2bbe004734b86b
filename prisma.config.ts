import { defineConfig } from 'prisma/config';

// Generating needs no schema engine, yet would download one: any program that exists stands in for it.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath;

/** Only `prisma generate` reads this: the service itself connects by `DATABASE_URL` and migrates by itself. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
});
