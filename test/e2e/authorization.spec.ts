import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../src/tenancy/scope.js';
import { SCOPES } from '../../src/tenancy/scope.js';
import { DATABASES } from '../support/databases.js';
import type { Ids, Operation } from '../support/operations.js';
import { fill, operationsOf } from '../support/operations.js';
import type { PopulatedTenant } from '../support/populated-tenant.js';
import { idsWith, populatedTenant } from '../support/populated-tenant.js';
import { rowsOf } from '../support/rows.js';
import type { TestService } from '../support/test-service.js';
import { PLATFORM_KEY, newTenant, platform, startTestService } from '../support/test-service.js';
import type { WireAnswer } from '../support/wire.js';
import { Wire, inLanes } from '../support/wire.js';

type Headers = Readonly<Record<string, string>>;

const LANES = 8;
/** None of these is anywhere. */
const NOWHERE: Ids = { ...idsWith('nowhere'), keyId: 'AAAAAAAAAAAAAAAA', revision: '999999' };

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });

/** All scopes that these give. */
const given = (scopes: readonly Scope[]): ReadonlySet<Scope> =>
  new Set(scopes.includes('admin') ? SCOPES : scopes.includes('governance:write') ? [...scopes, 'governance:read'] : scopes);

const subsets: readonly (readonly Scope[])[] = Array.from({ length: 2 ** SCOPES.length - 1 }, (_, i) => SCOPES.filter((__, bit) => ((i + 1) >> bit) % 2 === 1));

const opens = ({ access }: Operation, scopes: readonly Scope[]): boolean =>
  access === 'any-key' || (typeof access === 'object' && access.anyOf.some((scope) => given(scopes).has(scope)));

/** Who is let in, as a person reads it in the description. */
function saysAccess({ access }: Operation): string {
  if (access === 'public') return 'Needs no key';
  if (access === 'platform') return 'With the platform key alone.';
  return access === 'any-key' ? 'Any scope.' : `Scope ${access.anyOf.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

/** An answer without what must differ: the request's id, and the names that the request itself brought. */
function comparable({ status, headers, text }: WireAnswer, ids: Ids): Record<string, unknown> & { readonly body: string } {
  const body = Object.values(ids).filter((id) => !/^\d+$/u.test(id)).reduce((left, id) => left.replaceAll(id, 'ID'), text);
  return { status, type: headers['content-type'], asks: headers['www-authenticate'], etag: headers['etag'], body: body.replaceAll(/"requestId":"[^"]*"/gu, '').replaceAll(/revision \d+/gu, 'revision N') };
}

/** As {@link comparable}, of two tenants that did the same: without what they are called, when it was, and what was made up for them. */
function likened(answer: WireAnswer, ids: Ids, tenantId: string): object {
  const { body, etag: _, ...told } = comparable(answer, ids);
  const plain = body.replaceAll(tenantId, 'OWN').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, 'TIME').replaceAll(/tck_OWN[\w.-]+/gu, 'KEY').replaceAll(/"keyId":"[\w-]{16}"/gu, '"keyId":"ID"');
  // Keys are listed by their ids, which are random.
  return { ...told, body: plain.split(/(?<=\}),(?=\{)|[[\]]/u).sort() };
}

describe.each(DATABASES)('every operation of the document, $name', (kind) => {
  let service: TestService;
  let wire: Wire;
  let operations: readonly Operation[];
  let guarded: readonly Operation[];
  let theirs: PopulatedTenant;
  let asked = 0;

  beforeAll(async () => {
    service = await startTestService(kind);
    await service.app.listen(0, '127.0.0.1');
    wire = new Wire(await service.app.getUrl(), LANES);
    operations = operationsOf(service.document);
    guarded = operations.filter(({ access }) => access !== 'public');
    theirs = await populatedTenant(service, 'theirs', 'planted-secret');
  });
  afterAll(async () => {
    wire.close();
    await service.close();
  });

  const ask = async (operation: Operation, ids: Ids, headers: Headers): Promise<WireAnswer> => {
    asked += 1;
    const { method, path, body } = fill(operation, ids);
    const answer = await wire.send({ method, path, headers: { ...headers, ...(operation.takesIfMatch && { 'if-match': '*' }) }, ...(body !== undefined && { body }) });
    service.contract.check(method.toLowerCase(), path, answer.status, answer.headers['content-type'], answer.text.startsWith('{') ? JSON.parse(answer.text) : null);
    return answer;
  };
  /** Asks for what is there and for what is nowhere: the same answer, which says what it should, and nothing has changed. */
  const expectSame = async (who: string, headers: Headers, over: readonly Operation[], expected: object): Promise<string[]> => {
    const before = await rowsOf(service.database.pool, null);
    const bodies = await inLanes(LANES, over, async (operation) => {
      const there = comparable(await ask(operation, theirs.ids, headers), theirs.ids);
      const nowhere = comparable(await ask(operation, NOWHERE, headers), NOWHERE);
      expect({ who, at: operation.name, ...there }).toEqual({ who, at: operation.name, ...nowhere });
      expect({ who, at: operation.name, ...there }).toMatchObject(expected);
      return there.body;
    });
    expect({ who, rows: await rowsOf(service.database.pool, null) }).toEqual({ who, rows: before });
    return bodies;
  };
  const mint = async (tenantId: string, scopes: readonly Scope[], more: object = {}): Promise<{ key: string; keyId: string }> =>
    (await platform(service, tenantId).post('/v1/keys', { name: scopes.join(' '), scopes, ...more })).body;

  it('says to programs and to people who may use it', () => {
    expect(operations.length).toBeGreaterThan(35);
    for (const operation of operations) expect(operation.description).toContain(saysAccess(operation));
    expect(operations.filter((operation) => !guarded.includes(operation)).map(({ path }) => path)).toEqual(['/health/live', '/health/ready', '/metrics']);
    expect(guarded.filter(({ path }) => path.startsWith('/v1/tenants')).map(({ access }) => access)).toEqual(['platform', 'platform', 'platform']);
  });

  it('can be asked by these suites as its documentation says, and then succeeds', async () => {
    const { ids, caller } = await populatedTenant(service, 'own', 'planted-own');
    const { key } = await mint(ids.tenantId, ['admin']);
    const deletes = guarded.filter(({ method, access }) => method === 'DELETE' && access !== 'platform').sort((a, b) => b.path.length - a.path.length);
    const rest = guarded.filter(({ method, access }) => method !== 'DELETE' && access !== 'platform');
    for (const operation of [...rest, ...deletes]) {
      const { status, text } = await ask(operation, ids, bearer(key));
      expect({ at: operation.name, status, text: status < 300 ? '' : text }).toEqual({ at: operation.name, status: expect.any(Number), text: '' });
    }
    expect((await caller.get(`/v1/agents/${ids.agentId}`)).status).toBe(404);
    for (const operation of guarded.filter(({ access }) => access === 'platform')) {
      const { status } = await ask(operation, { ...ids, tenantId: operation.method === 'POST' ? 'fresh' : ids.tenantId }, bearer(PLATFORM_KEY));
      expect({ at: operation.name, status }).toEqual({ at: operation.name, status: operation.method === 'POST' ? 201 : operation.method === 'GET' ? 200 : 204 });
    }
  });

  it('is closed to whoever has no key in force, in the same words whatever is asked for', async () => {
    const { tenantId } = theirs;
    const revoked = await mint(tenantId, ['admin']);
    const expired = await mint(tenantId, ['admin'], { expiresAt: '2099-01-01T00:00:00Z' });
    await service.database.pool.query("UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE key_id = $1", [expired.keyId]);
    await platform(service, tenantId).send('delete', `/v1/keys/${revoked.keyId}`);
    const doomed = await newTenant(service);
    const orphan = await mint(doomed.tenantId, ['admin']);
    await platform(service).send('delete', `/v1/tenants/${doomed.tenantId}`);
    const { key, keyId } = await mint(tenantId, ['admin']);
    const secret = key.split('.').at(-1) ?? '';
    const wrong: Readonly<Record<string, Headers>> = {
      'no key': {},
      'no key, but a tenant': { 'x-tenant-id': tenantId },
      'an empty header': { authorization: '' },
      'a scheme without a key': { authorization: 'Bearer' },
      'another scheme': { authorization: `Basic ${Buffer.from(`admin:${key}`).toString('base64')}` },
      'a key without a scheme': { authorization: key },
      'two keys in one header': { authorization: `Bearer ${key} ${key}` },
      'an empty key header': { 'x-api-key': '' },
      'a wrong header beside a right one': { authorization: 'Basic abc', 'x-api-key': key },
      'garbage': bearer('nonsense'),
      'garbage in the other header': { 'x-api-key': 'nonsense' },
      'garbage of the right form': bearer(`tck_${tenantId}.${'A'.repeat(16)}.${'A'.repeat(43)}`),
      'a key with another secret': bearer(`tck_${tenantId}.${keyId}.${'A'.repeat(43)}`),
      'a key cut short': bearer(key.slice(0, -1)),
      'a key with a tail': bearer(`${key}A`),
      'a key in capitals': bearer(key.toUpperCase()),
      'the key of a tenant under the name of another': bearer(`tck_${NOWHERE.tenantId}.${keyId}.${secret}`),
      'the name of a key for the key': bearer(keyId),
      'an expired key': bearer(expired.key),
      'an expired key in the other header': { 'x-api-key': expired.key },
      'a revoked key': bearer(revoked.key),
      'the key of a deleted tenant': bearer(orphan.key),
      'the beginning of the platform key': bearer(PLATFORM_KEY.slice(0, -1)),
      'a web token that nobody signed': bearer('eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiIsInNjb3BlIjoiYWRtaW4ifQ.'),
    };
    const bodies = new Set<string>();
    for (const [who, headers] of Object.entries(wrong)) {
      const told = await expectSame(who, headers, guarded, { status: 401, asks: 'Bearer realm="toolcrib"', type: 'application/problem+json; charset=utf-8' });
      for (const body of told) bodies.add(body);
    }
    // One sentence where there is no key to look at, and one for all that are wrong.
    expect(bodies.size).toBe(2);
  });

  it('is open to every key that has its scope, and closed to every other, whatever is asked for', async () => {
    const keys = await Promise.all(subsets.map(async (scopes) => ({ scopes, ...(await mint(theirs.tenantId, scopes)) })));
    for (const { scopes, key } of keys) {
      const closed = guarded.filter((operation) => !opens(operation, scopes));
      await expectSame(scopes.join(' '), bearer(key), closed, { status: 403, body: expect.stringContaining('"code":"FORBIDDEN"') });
    }
    await inLanes(LANES, keys, async ({ scopes, key }) => {
      for (const operation of guarded.filter((one) => opens(one, scopes))) {
        const { status } = await ask(operation, NOWHERE, bearer(key));
        expect({ scopes, at: operation.name, open: status !== 401 && status !== 403 }).toEqual({ scopes, at: operation.name, open: true });
      }
    });
  });

  it('finds nothing of another tenant, says the same as of what is nowhere, and changes nothing there', async () => {
    const before = await rowsOf(service.database.pool, theirs.tenantId);
    // Two strangers alike: what one writes under the names of what is there, the other writes under names that are nowhere.
    const [stranger, twin] = await Promise.all([newTenant(service), newTenant(service)]);
    const [mine, alike] = await Promise.all([stranger, twin].map(({ tenantId }) => mint(tenantId, ['admin'])));
    const reads = guarded.filter(({ method }) => method === 'GET');
    for (const operation of [...reads, ...guarded.filter(({ method }) => method !== 'GET')]) {
      const there = await ask(operation, theirs.ids, bearer(mine?.key ?? ''));
      const nowhere = await ask(operation, { ...NOWHERE, revision: theirs.ids.revision }, bearer(alike?.key ?? ''));
      expect({ at: operation.name, ...likened(there, theirs.ids, stranger.tenantId) }).toEqual({ at: operation.name, ...likened(nowhere, NOWHERE, twin.tenantId) });
      expect(there.text).not.toContain('planted-secret');
      if (operation.method === 'GET' && operation.path.includes('{')) expect({ at: operation.name, status: there.status }).toEqual({ at: operation.name, status: 404 });
    }
    expect(await rowsOf(service.database.pool, theirs.tenantId)).toEqual(before);
  });

  it('is not opened by naming another tenant, nor by a platform key that names none', async () => {
    const { key } = await mint((await newTenant(service)).tenantId, ['admin']);
    const ofTenants = guarded.filter(({ access }) => access !== 'platform');
    for (const named of [theirs.tenantId, 'nobody-at-all', 'not/an id', `${theirs.tenantId} `.repeat(2)]) {
      await expectSame(`naming ${named}`, { ...bearer(key), 'x-tenant-id': named }, ofTenants, { status: 404, body: expect.stringContaining('"code":"TENANT_NOT_FOUND"') });
    }
    for (const named of ['nobody-at-all', 'not/an id']) {
      await expectSame(`the platform naming ${named}`, { ...bearer(PLATFORM_KEY), 'x-tenant-id': named }, ofTenants, { status: 404, body: expect.stringContaining('"code":"TENANT_NOT_FOUND"') });
    }
    await expectSame('the platform naming nobody', bearer(PLATFORM_KEY), ofTenants, { status: 400, body: expect.stringContaining('"code":"TENANT_REQUIRED"') });
    expect(asked).toBeGreaterThan(4_000);
  });
});
