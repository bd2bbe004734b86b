import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../src/tenancy/scope.js';
import { SCOPES } from '../../src/tenancy/scope.js';
import { DATABASES } from '../support/databases.js';
import type { Answer, TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, platform, startReplica, startTestService } from '../support/test-service.js';

const READ: readonly Scope[] = ['governance:read', 'governance:write', 'admin'];
const WRITE: readonly Scope[] = ['governance:write', 'admin'];
const DECIDE: readonly Scope[] = ['decide', 'admin'];
const NOBODY: readonly Scope[] = [];

/** Every operation of a tenant, with the scopes that may do it. */
const OPERATIONS: readonly (readonly [method: 'get' | 'put' | 'post' | 'patch' | 'delete', path: string, scopes: readonly Scope[]])[] = [
  ['post', '/v1/decide', DECIDE], ['post', '/v1/decide/batch', DECIDE], ['post', '/v1/check', DECIDE],
  ['post', '/v1/tools/sync', ['sync', 'admin']],
  ['get', '/v1/tools', SCOPES], ['get', '/v1/tools/read_file', SCOPES], ['get', '/v1/toolsets', SCOPES],
  ['patch', '/v1/tools/read_file', WRITE], ['delete', '/v1/tools/read_file', WRITE],
  ['get', '/v1/agents', READ], ['get', '/v1/agents/m', READ], ['put', '/v1/agents/m', WRITE], ['patch', '/v1/agents/m', WRITE], ['delete', '/v1/agents/m', WRITE],
  ['post', '/v1/agents/import', WRITE],
  ['get', '/v1/agents/m/tools', READ], ['post', '/v1/tools/runtime-diagnostic', READ],
  ['put', '/v1/agents/m/tools/read_file/switch', WRITE], ['post', '/v1/agents/m/actions/clear-enabled', WRITE],
  ['post', '/v1/agents/m/preview', READ], ['post', '/v1/agents/m/tools/read_file/explain', READ], ['post', '/v1/tools/read_file/impact', READ], ['post', '/v1/settings/impact', READ],
  ['get', '/v1/history', READ], ['get', '/v1/history/1', READ], ['post', '/v1/history/1/revert', WRITE],
  ['get', '/v1/settings', READ], ['patch', '/v1/settings', WRITE],
  ['get', '/v1/keys', ['admin']], ['post', '/v1/keys', ['admin']], ['delete', '/v1/keys/AAAAAAAAAAAAAAAA', ['admin']],
  ['get', '/v1/tenants', NOBODY], ['post', '/v1/tenants', NOBODY], ['delete', '/v1/tenants/other', NOBODY],
];

describe.each(DATABASES)('keys and scopes, $name', (kind) => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    service = await startTestService(kind);
    tenant = await newTenant(service);
    await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'read_file', description: 'd', isCore: true }] });
    await tenant.caller.send('put', '/v1/agents/m', {});
  });
  afterAll(() => service.close());

  const withKey = (key: string): Caller => new Caller(service, { authorization: `Bearer ${key}` });
  const decide = (caller: Caller, headers?: Record<string, string>): Promise<Answer> => caller.post('/v1/decide', { agentId: 'm' }, headers);

  it('open each operation to its scopes and to no other', async () => {
    for (const scope of SCOPES) {
      const caller = await tenant.withScopes(scope);
      for (const [method, path, scopes] of OPERATIONS) {
        const { status, body } = await caller.send(method, path, method === 'get' || method === 'delete' ? undefined : { wrong: true });
        if (method === 'delete' && scopes.includes(scope) && path !== '/v1/keys/AAAAAAAAAAAAAAAA') continue;
        expect({ scope, method, path, refused: status === 403 }).toEqual({ scope, method, path, refused: !scopes.includes(scope) });
        if (status === 403) expect(body.code).toBe('FORBIDDEN');
      }
      await tenant.caller.send('put', '/v1/agents/m', {});
    }
  });

  it('are asked for at every operation', async () => {
    for (const headers of [{}, { authorization: 'Bearer nonsense' }, { authorization: 'Basic abc' }, { 'x-api-key': 'tck_a.b.c' }]) {
      for (const [method, path] of OPERATIONS) {
        const { status, headers: got } = await new Caller(service, headers as Record<string, string>).send(method, path, method === 'get' || method === 'delete' ? undefined : {});
        expect({ method, path, status, asks: got['www-authenticate'] }).toEqual({ method, path, status: 401, asks: 'Bearer realm="toolcrib"' });
      }
    }
  });

  it('are stored as digests alone and never logged', async () => {
    const { body } = await tenant.caller.post('/v1/keys', { name: 'hidden', scopes: ['decide'] });
    const { rows } = await service.database.pool.query('SELECT * FROM api_keys WHERE key_id = $1', [body.keyId]);
    const secret = String(body.key).split('.').at(-1) ?? '';
    expect(JSON.stringify({ ...rows[0], hash: rows[0].hash.toString('latin1') })).not.toContain(secret);
    await decide(withKey(body.key));
    await decide(withKey(`${body.key}x`));
    expect(service.logged.join('')).not.toContain(secret);
    expect((await tenant.caller.get('/v1/keys')).text).not.toContain(secret);
  });

  it('work until they expire, by either header', async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const { body } = await tenant.caller.post('/v1/keys', { name: 'brief', scopes: ['decide'], expiresAt });
    expect((await decide(withKey(body.key))).status).toBe(200);
    expect((await decide(new Caller(service, { 'x-api-key': body.key }))).status).toBe(200);
    await sleep(1_600);
    expect((await decide(withKey(body.key))).status).toBe(401);
    expect((await tenant.caller.post('/v1/keys', { name: 'late', scopes: ['decide'], expiresAt: '2020-01-01T00:00:00Z' })).body).toMatchObject({ status: 422, errors: [{ path: '/expiresAt' }] });
    expect((await tenant.caller.post('/v1/keys', { name: 'odd', scopes: ['decide'], expiresAt: '2027-02-31T25:61:00Z' })).status).toBe(422);
  });

  it('stop working here at once and on every replica within a second when they are revoked', async () => {
    const replica = await startReplica(service);
    const { body } = await tenant.caller.post('/v1/keys', { name: 'doomed', scopes: ['decide'] });
    const there = new Caller(replica, { authorization: `Bearer ${body.key}` });
    expect([(await decide(withKey(body.key))).status, (await decide(there)).status]).toEqual([200, 200]);
    expect((await tenant.caller.send('delete', `/v1/keys/${body.keyId}`)).status).toBe(204);
    expect((await decide(withKey(body.key))).status).toBe(401);
    await sleep(1_000);
    expect((await decide(there)).status).toBe(401);
    await replica.app.close();
  });

  it('of another tenant find nothing, and say the same whether a thing is there or not', async () => {
    const other = await newTenant(service);
    for (const path of ['/v1/agents/m', '/v1/tools/read_file']) {
      const there = await other.caller.get(path);
      const nowhere = await other.caller.get(path.replace(/m$|read_file$/u, 'nope'));
      expect([there.status, there.body.code]).toEqual([404, nowhere.body.code]);
    }
    expect((await other.caller.post('/v1/decide', { agentId: 'm' })).body.code).toBe('AGENT_NOT_FOUND');
    const named = await decide(other.caller, { 'x-tenant-id': tenant.tenantId });
    const unknown = await decide(other.caller, { 'x-tenant-id': 'nobody-at-all' });
    expect([named.status, named.body.code, named.body.detail]).toEqual([404, unknown.body.code, unknown.body.detail]);
    expect((await decide(tenant.caller, { 'x-tenant-id': tenant.tenantId })).status).toBe(200);
  });

  it('of the platform act on the tenant that they name', async () => {
    expect((await platform(service, tenant.tenantId).post('/v1/decide', { agentId: 'm' })).status).toBe(200);
    expect((await platform(service).post('/v1/decide', { agentId: 'm' })).body).toMatchObject({ status: 400, code: 'TENANT_REQUIRED' });
    expect((await platform(service, 'not/an id').post('/v1/decide', { agentId: 'm' })).body).toMatchObject({ status: 404, code: 'TENANT_NOT_FOUND' });
    expect((await platform(service).post('/v1/tenants', { tenantId: tenant.tenantId, name: 'again' })).body).toMatchObject({ status: 409, code: 'TENANT_EXISTS' });
    expect((await platform(service).post('/v1/tenants', { tenantId: 'no spaces', name: 'x' })).body).toMatchObject({ status: 422, errors: [{ path: '/tenantId' }] });
  });

  it('die with their tenant, and a new tenant of that name starts from nothing', async () => {
    const doomed = await newTenant(service);
    await doomed.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'old', description: 'd', isCore: true }] });
    await doomed.caller.send('put', '/v1/agents/m', {});
    expect((await decide(doomed.caller)).body.toolNames).toEqual(['old']);
    expect((await platform(service).send('delete', `/v1/tenants/${doomed.tenantId}`)).status).toBe(204);
    expect((await decide(doomed.caller)).status).toBe(401);
    await platform(service).post('/v1/tenants', { tenantId: doomed.tenantId, name: 'again' });
    const reborn = platform(service, doomed.tenantId);
    expect((await reborn.post('/v1/decide', { agentId: 'm' })).body.code).toBe('AGENT_NOT_FOUND');
    await reborn.post('/v1/tools/sync', { source: 's', tools: [{ name: 'new', description: 'd', isCore: true }] });
    await reborn.send('put', '/v1/agents/m', {});
    expect((await reborn.post('/v1/decide', { agentId: 'm' })).body).toMatchObject({ revision: 2, toolNames: ['new'] });
  });
});
