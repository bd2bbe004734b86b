import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Invalidation } from '../../src/invalidation/invalidation.js';
import { DATABASES } from '../support/databases.js';
import type { Ids, Operation } from '../support/operations.js';
import { fill, operationsOf } from '../support/operations.js';
import type { PopulatedTenant } from '../support/populated-tenant.js';
import { idsWith, populatedTenant } from '../support/populated-tenant.js';
import { rowsOf } from '../support/rows.js';
import type { TestService } from '../support/test-service.js';
import { platform, startTestService } from '../support/test-service.js';
import type { WireAnswer, WireRequest } from '../support/wire.js';
import { Wire } from '../support/wire.js';

const SEED = 20_261_201;
const TRIES = 10_000;
const LANES = 4;
/** Then a lane goes on with new tenants: what the old ones wrote piles up, and their own things are gone. */
const OF_ONE_PAIR = 500;
/** In the names of what is there, and of what is nowhere: of one length, so that both sort alike. */
const THERE = 'q7f3k1';
const NOWHERE = 'q7f3k2';
const MARKS = /q7f3k[12]/giu;
/** In all that the other tenant holds, and in nothing that is ever sent. */
const PLANTED = 'planted-5up3r-53cr3t';
const KEY_SCOPES = [['admin'], ['admin'], ['governance:write', 'decide'], ['governance:read', 'decide'], ['sync'], ['decide']] as const;

/** What is asked with, and what is asked for: the other tenant's things for the stranger, things that are nowhere for its twin. */
interface Side {
  readonly own: PopulatedTenant;
  readonly keys: readonly string[];
  readonly target: Ids;
  readonly etags: readonly string[];
}

const fullWidth = (text: string): string => text.replaceAll(/[!-~]/gu, (char) => String.fromCodePoint((char.codePointAt(0) ?? 0) + 0xfee0));
const percent = (text: string): string => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** How an id is written: as a text, and then on the wire. */
const FORMS: readonly { readonly name: string; readonly text?: (id: string, ids: Ids) => string; readonly wire?: (text: string) => string }[] = [
  { name: 'as it is' }, { name: 'as it is' }, { name: 'as it is' },
  { name: 'each byte escaped', wire: percent },
  { name: 'escaped twice', wire: (text) => encodeURIComponent(percent(text)) },
  { name: 'in capitals', text: (id) => id.toUpperCase() },
  { name: 'in full width', text: fullWidth },
  { name: 'with look-alikes', text: (id) => id.replaceAll('o', 'о').replaceAll('a', 'а') },
  { name: 'decomposed', text: (id) => `${id}\u0301` },
  { name: 'with a character of no width', text: (id) => `${id}\u200b` },
  { name: 'with a space', text: (id) => `${id} ` },
  { name: 'with a NUL', text: (id) => `${id}\u0000` },
  { name: 'from above', text: (id) => `../${id}` },
  { name: 'from above, on the wire', wire: (text) => `x/../${encodeURIComponent(text)}` },
  { name: 'with an overlong dot', wire: (text) => `%c0%ae%c0%ae/${encodeURIComponent(text)}` },
  { name: 'with parameters', wire: (text) => `${encodeURIComponent(text)};x=1` },
  { name: 'with a second slash', wire: (text) => `/${encodeURIComponent(text)}` },
  { name: 'by its tenant, with a slash', text: (id, { tenantId }) => `${tenantId}/${id}` },
  { name: 'by its tenant, with a full stop', text: (id, { tenantId }) => `${tenantId}.${id}` },
  { name: 'by its tenant, with a line break', text: (id, { tenantId }) => `${tenantId}\n${id}` },
  { name: 'with a condition in SQL', text: (id, { tenantId }) => `${id}' OR tenant_id = '${tenantId}` },
  { name: 'with a setting in SQL', text: (id, { tenantId }) => `${id}'; SELECT set_config('toolcrib.tenant_id', '${tenantId}', true); --` },
  { name: 'as a pattern', text: () => '%' },
  { name: 'as a name of every object', text: () => '__proto__' },
];

const cursor = (...place: readonly (string | number)[]): string => Buffer.from(JSON.stringify(place)).toString('base64url');
const KIND_NAMES = ['tenantId', 'keyId', 'agentId', 'tool', 'goneTool', 'conversationId', 'source'] as const;

/** What else a request may try, besides the ids in their places. */
const EXTRAS: readonly { readonly name: string; readonly change: (request: WireRequest, side: Side, pick: number) => WireRequest }[] = [
  { name: 'nothing', change: (request) => request },
  { name: 'their tenant in the header', change: (request, { target }) => withHeader(request, 'x-tenant-id', target.tenantId) },
  { name: 'both tenants in the header', change: (request, { target, own }) => withHeader(request, 'x-tenant-id', `${own.tenantId}, ${target.tenantId}`) },
  { name: 'their ETag, for a 304', change: (request, { etags }, pick) => withHeader(request, 'if-none-match', etags[pick % etags.length] ?? '') },
  { name: 'their ETag, for a write', change: (request, { etags }, pick) => withHeader(request, 'if-match', etags[pick % etags.length] ?? '') },
  { name: 'their request id', change: (request, { target }) => withHeader(request, 'x-request-id', `request-of-${target.agentId}`) },
  { name: 'a place in their stream', change: (request, _, pick) => withHeader(request, 'last-event-id', String(pick % 9)) },
  { name: 'a key under their name', change: (request, { keys, target }, pick) => withKey(request, (keys[pick % keys.length] ?? '').replace(/^tck_[^.]+/u, `tck_${target.tenantId}`)) },
  { name: 'a key with the id of theirs', change: (request, { keys, target }, pick) => withKey(request, (keys[pick % keys.length] ?? '').replace(/\.[^.]+\./u, `.${target.keyId}.`)) },
  { name: 'their page', change: (request, { target }, pick) => withQuery(request, 'cursor', [cursor(target.agentId), cursor(0, target.tool), cursor(target.keyId), cursor(Number(target.revision)), cursor(target.tenantId, target.tool)][pick % 5] ?? '') },
  { name: 'a filter for theirs', change: (request, { target }, pick) => withQuery(request, ['id', 'actor', 'source', 'search', 'toolset', 'tenantId', 'tenant'][pick % 7] ?? '', target[KIND_NAMES[pick % KIND_NAMES.length] ?? 'tool']) },
  { name: 'a member for theirs', change: (request, { target }, pick) => withMember(request, [
    { minRevision: 3 }, { conversationId: target.conversationId }, { context: { subagent: { parentAgentId: target.agentId, depth: 1 } } }, { select: [target.tool] }, { exposure: 'search', discovered: [target.tool] }, { tenantId: target.tenantId }, { agentId: target.agentId },
    { subagentConfig: { enabled: true, allowedPresetAgentIds: [target.agentId] } }, { source: target.source }, { toolLoading: { enabled: true, deferred_set: [target.tool], loaded: [target.tool] } }, { expiresAt: '2099-01-01T00:00:00Z' }, { include: ['tools', 'reasons', 'definitions', 'diagnostics'] },
  ][pick % 12] ?? {}) },
];

const withHeader = (request: WireRequest, name: string, value: string): WireRequest => ({ ...request, headers: { ...request.headers, [name]: value } });
const withKey = (request: WireRequest, key: string): WireRequest => withHeader(request, 'authorization', `Bearer ${key}`);
const withQuery = (request: WireRequest, name: string, value: string): WireRequest => ({ ...request, path: `${request.path}${request.path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}` });
const withMember = (request: WireRequest, more: object): WireRequest => (request.body === undefined ? request : { ...request, body: JSON.stringify({ ...(JSON.parse(request.body) as object), ...more }) });

/** An id that nothing has, and that sorts as this one does. */
const besides = (keyId: string): string => keyId.slice(0, -1) + (keyId.endsWith('A') ? 'B' : 'A');

interface Try {
  readonly operation: number;
  readonly key: number;
  readonly form: number;
  readonly extra: number;
  readonly pick: number;
  /** One in eight asks for the own things, under the names that both tenants use. */
  readonly whose: number;
}

describe('ten thousand tries of one tenant’s keys at the things of another', () => {
  const kind = DATABASES.at(-1);
  let service: TestService;
  let wire: Wire;
  let operations: readonly Operation[];
  let theirs: PopulatedTenant;

  beforeAll(async () => {
    if (kind === undefined) throw new Error('no database');
    service = await startTestService(kind);
    await service.app.listen(0, '127.0.0.1');
    // As in the process: what is known is renewed by looks, and not by each request for itself.
    service.app.get(Invalidation).start();
    wire = new Wire(await service.app.getUrl(), 2 * LANES);
    operations = operationsOf(service.document);
    theirs = await populatedTenant(service, THERE, PLANTED);
    await theirs.caller.send('put', '/v1/agents/agent-own', { displayName: PLANTED }, { 'x-request-id': `request-of-${theirs.ids.agentId}` });
  });
  afterAll(async () => {
    wire.close();
    await service.app.get(Invalidation).stop();
    await service.close();
  });

  /** A tenant that both sides of a lane have alike: their own things have the same names. */
  const side = async (tenantId: string, target: Ids, etags: readonly string[]): Promise<Side> => {
    const own = await populatedTenant(service, 'own', 'of-my-own', tenantId);
    const keys = await Promise.all(KEY_SCOPES.map(async (scopes) => (await platform(service, own.tenantId).post('/v1/keys', { name: scopes.join(' '), scopes })).body.key as string));
    return { own, keys, target, etags };
  };

  const requestOf = ({ operation, key, form, extra, pick, whose }: Try, at: Side): WireRequest => {
    const { name, text = (id: string): string => id, wire: onWire = encodeURIComponent } = FORMS[form % FORMS.length] ?? { name: '' };
    const chosen = operations[operation % operations.length];
    if (chosen === undefined || name === '') throw new Error('nothing to try');
    const { target, own, keys } = at;
    const ids = whose === 0 ? { ...own.ids, tenantId: target.tenantId } : (Object.fromEntries(Object.entries(target).map(([member, id]) => [member, member === 'revision' ? id : text(id, target)])) as unknown as Ids);
    const filled = fill(chosen, ids, onWire);
    const request = { ...filled, headers: { authorization: `Bearer ${keys[key % keys.length] ?? ''}`, ...(pick % 3 > 0 && chosen.takesIfMatch && { 'if-match': '*' }) } };
    return EXTRAS[extra % EXTRAS.length]?.change(request, at, pick) ?? request;
  };

  /** Without what two tenants that do the same need not have in common. */
  const likened = ({ status, headers, text }: WireAnswer, { own, target }: Side): object => {
    const decoded = text.replaceAll(/"nextCursor":"([\w-]+)"/gu, (_, place: string) => `"nextCursor":${Buffer.from(place, 'base64url').toString()}`);
    const body = decoded.normalize('NFKC').replaceAll(target.keyId, 'ID').replaceAll(/no key `[^`]*`/gu, 'no key').replaceAll(own.ids.keyId, 'ID').replaceAll(own.tenantId, 'OWN').replaceAll(MARKS, 'MARK').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, 'TIME').replaceAll(/tck_OWN[\w.-]+/gu, 'KEY')
      .replaceAll(/"keyId":"[\w-]{16}"/gu, '"keyId":"ID"').replaceAll(/"requestId":"[^"]*"/gu, '').replaceAll(/%[\da-f]{2}/gu, '').replaceAll(/"freshness":"\w+"(?:,"staleForMs":\d+)?/gu, '');
    return { status, type: headers['content-type'], asks: headers['www-authenticate'], revision: headers['x-toolcrib-revision'], body: headers['content-type']?.startsWith('text/') ? '' : body.split(/(?<=\}),(?=\{"keyId":"ID","name")|[[\]]/u).sort().join() };
  };

  /** The whole comparison only where there is something to show. */
  const expectAlike = (asked: WireRequest, told: object, of: object): void => {
    if (JSON.stringify(told) !== JSON.stringify(of)) expect({ asked, ...told }).toEqual({ asked, ...of });
  };

  it('find nothing, learn nothing, and change nothing', async () => {
    const etags = await Promise.all([theirs.caller.get(`/v1/agents/${theirs.ids.agentId}`), theirs.caller.get('/v1/settings'), theirs.caller.post('/v1/decide', { agentId: theirs.ids.agentId })].map(async (answer) => (await answer).headers['etag'] ?? ''));
    const nowhere: Ids = { ...idsWith(NOWHERE), keyId: besides(theirs.ids.keyId), revision: theirs.ids.revision };
    const before = await rowsOf(service.database.pool, theirs.tenantId);
    const tries = fc.sample(fc.record<Try>({ operation: fc.nat(), key: fc.nat(), form: fc.nat(), extra: fc.nat(), pick: fc.nat(), whose: fc.nat({ max: 7 }) }), { seed: SEED, numRuns: TRIES });
    const statuses = new Map<number, number>();
    const pair = (name: string): Promise<[Side, Side]> => Promise.all([side(`lane-${name}-a`, theirs.ids, etags), side(`lane-${name}-b`, nowhere, etags)]);
    const lane = async (number: number): Promise<void> => {
      let [stranger, twin] = await pair(`${number}-0`);
      for (const [i, tried] of tries.filter((_, at) => at % LANES === number).entries()) {
        if (i % OF_ONE_PAIR === OF_ONE_PAIR - 1) [stranger, twin] = await pair(`${number}-${i}`);
        const [asked, alike] = [requestOf(tried, stranger), requestOf(tried, twin)];
        const [answer, same] = await Promise.all([wire.send(asked), wire.send(alike)]);
        const told = JSON.stringify(answer.headers) + answer.text;
        if (told.includes(PLANTED)) throw new Error(`${JSON.stringify(asked)} told ${told}`);
        // Keys are listed by their ids, which are random: what comes after a place is another matter each time.
        if (asked.path.startsWith('/v1/keys?')) expect([asked.path, answer.status]).toEqual([asked.path, same.status]);
        else expectAlike(asked, likened(answer, stranger), likened(same, twin));
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
    expect(await rowsOf(service.database.pool, theirs.tenantId)).toEqual(before);
    // Neither all refused at the door nor a fault of the service.
    expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 422]));
    expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
  }, 900_000);
});
