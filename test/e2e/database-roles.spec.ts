import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { newPostgresUrl, postgresServer } from '../support/databases.js';
import type { Replica } from '../support/fleet.js';
import { FLEET_KEY, Fleet, FleetTenant } from '../support/fleet.js';
import { ask, spawnService } from '../support/process.js';

const as = (url: string, user: string): string => Object.assign(new URL(url), { username: user, password: 'sesame' }).href;

/** What the chart's README tells an operator to do who keeps two roles. */
(postgresServer === undefined ? describe.skip : describe)('a database with an owner and a service that owns nothing', () => {
  const suffix = randomBytes(4).toString('hex');
  const [owner, service] = [`owner_${suffix}`, `service_${suffix}`];
  let admin: pg.Client;
  let url: string;
  let fleet: Fleet;
  beforeAll(async () => {
    url = await newPostgresUrl(postgresServer ?? '');
    admin = new pg.Client({ connectionString: url });
    await admin.connect();
    // Roles belong to the whole server, on which other suites may have made them.
    for (const role of ['toolcrib_service', 'toolcrib_platform']) await admin.query(`CREATE ROLE ${role} NOLOGIN NOBYPASSRLS`).catch(() => undefined);
    await admin.query(`CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD 'sesame'`);
    await admin.query(`CREATE ROLE ${service} LOGIN PASSWORD 'sesame'`);
    await admin.query(`GRANT toolcrib_service, toolcrib_platform TO ${owner}, ${service}`);
    await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${owner}`);
    fleet = new Fleet({ DATABASE_URL: as(url, service), TOOLCRIB_MIGRATE: 'off' });
  });
  afterAll(async () => {
    await fleet.stop();
    await admin.end();
  });

  it('migrates as its owner, without the platform key, and creates no role after the first time', async () => {
    const migrated = async (): Promise<unknown> => {
      const job = spawnService({ DATABASE_URL: as(url, owner) }, ['migrate']);
      return [await job.ended, job.output()];
    };
    expect(await migrated()).toEqual([0, expect.stringMatching(/^applied \d+_/u)]);
    await admin.query(`ALTER ROLE ${owner} NOCREATEROLE`);
    expect(await migrated()).toEqual([0, 'nothing to apply\n']);
    const { rows } = await admin.query(`SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'`);
    expect(rows).toEqual([{ tableowner: owner }]);
  });

  it('serves as a role that can change no table', async () => {
    const replica: Replica = await fleet.add();
    const tenant = await FleetTenant.create(replica, 'acme');
    await tenant.send(replica, 'POST', '/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }] });
    expect((await tenant.send(replica, 'PUT', '/v1/agents/m', {})).status).toBe(201);
    expect((await tenant.decide(replica)).body.toolNames).toEqual(['a']);
    expect((await ask(replica.url, FLEET_KEY, 'DELETE', '/v1/tenants/acme')).status).toBe(204);
    expect(fleet.errors()).toEqual([]);
    const client = new pg.Client({ connectionString: as(url, service) });
    await client.connect();
    await expect(client.query('ALTER TABLE tools ADD COLUMN x text')).rejects.toThrow('must be owner');
    await expect(client.query('CREATE TABLE x (y text)')).rejects.toThrow('permission denied');
    await client.end();
  });
});
