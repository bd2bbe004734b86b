import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newPostgresUrl, postgresServer } from '../support/databases.js';
import type { Ids, Operation } from '../support/operations.js';
import { fill, operationsOf } from '../support/operations.js';
import type { ServiceProcess } from '../support/process.js';
import { ask, listening, madeDataDir, spawnService } from '../support/process.js';
import type { WireAnswer } from '../support/wire.js';
import { Wire, inLanes } from '../support/wire.js';

const PLATFORM_KEY = 'the-platform-key-of-hostile-tests-01234';
const IDS: Ids = { tenantId: 'acme', keyId: 'AAAAAAAAAAAAAAAA', agentId: 'agent', tool: 'tool', goneTool: 'gone', conversationId: 'conversation', source: 'source', revision: '1' };
const LANES = 4;
/** Milliseconds that somebody else may be kept waiting, on a machine that has much else to do. */
const PATIENCE = 5_000;
const MOST_MEMORY = 1024 ** 3;

const nested = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels);

/** Values as JSON texts, some of which no JavaScript value has. */
const VALUES: readonly string[] = [
  'null', 'true', '0', '-0', '1.5', '-1', '9007199254740993', '1e308', '1e999', '9'.repeat(400), '""', '" "', '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00x"', '"\\u202e"', `"${'x'.repeat(10_000)}"`,
  '[]', '[null]', '[[]]', '["\\u0000"]', '["\\ud800"]', '[{}]', `[${'0,'.repeat(5_000)}0]`, `[${'"a",'.repeat(4_999)}"a"]`, `[${'{},'.repeat(5_000)}{}]`, nested('[', ']', 60), nested('[', ']', 50_000),
  '{}', '{"":1}', '{"\\u0000":1}', '{"\\ud800":{}}', '{"__proto__":{"isAdmin":true}}', '{"constructor":{"prototype":{"isAdmin":true}}}', '{"toString":1,"hasOwnProperty":1}', '{"a":1,"a":2}', `{${Array.from({ length: 5_001 }, (_, i) => `"k${i}":{}`).join()}}`, nested('{"a":', '1}', 0), `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`,
];

/** Whole bodies. */
const BODIES: readonly string[] = [
  '', ' ', '{', '}', 'nul', 'NaN', '\ufeff{}', '{}{}', '{"a":1,}', "{'a':1}", '//\n{}', '"text"', '7', 'null', '[]', '\u0000', '{"__proto__":{"isAdmin":true}}', '{"constructor":{"prototype":{}}}', '{"":0}', '{"\\u0000":0}', '{"\\ud800":0}',
  nested('[', ']', 100_000), nested('{"a":', '}', 30_000), `{${Array.from({ length: 15_000 }, (_, i) => `"k${i}":0`).join()}}`, `{"a":"${'x'.repeat(10 * 1024 * 1024)}"}`, `"${'\\u0041'.repeat(40_000)}"`, `[${'1e308,'.repeat(30_000)}0]`, `{"a":${'9'.repeat(100_000)}}`,
];

/** Names in paths and queries, as they go over the wire. */
const NAMES: readonly string[] = ['%00', 'a%00b', '%ED%A0%80', '%FF', '%zz', '%', '..%2f..%2fetc', '%2e%2e', '%0d%0aX-Injected:%201', '%E2%80%AE', 'x'.repeat(1_025), 'x'.repeat(8_000), '__proto__', 'constructor', '%F0%9F%A4%96', "'%20OR%201=1--", '%25', '*', '-1', '1e999', '9'.repeat(400), '[]', '%7B%7D', 'null'];

describe('a service under fire', () => {
  let service: ServiceProcess;
  let url: string;
  let wire: Wire;
  let operations: readonly Operation[];
  let document: Record<string, any>;
  let key: string;

  const environment = async (): Promise<Record<string, string>> => ({
    TOOLCRIB_PLATFORM_KEY: PLATFORM_KEY, ...(postgresServer === undefined ? { TOOLCRIB_DATA_DIR: await madeDataDir() } : { DATABASE_URL: await newPostgresUrl(postgresServer) }),
  });
  const ready = async (at: string): Promise<void> => {
    for (let tries = 0; tries < 300 && (await ask(at, null, 'GET', '/health/ready')).status !== 200; tries += 1) await sleep(100);
  };
  beforeAll(async () => {
    service = spawnService(await environment());
    url = await listening(service);
    await ready(url);
    wire = new Wire(url, LANES + 1);
    document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'));
    operations = operationsOf(document).filter(({ name }) => name !== 'DELETE /v1/tenants/{id}');
    const tenant = { 'x-tenant-id': IDS.tenantId };
    await ask(url, PLATFORM_KEY, 'POST', '/v1/tenants', { tenantId: IDS.tenantId, name: 'Acme' });
    ({ body: { key } } = await ask(url, PLATFORM_KEY, 'POST', '/v1/keys', { name: 'all', scopes: ['admin'] }, tenant));
  });
  afterAll(async () => {
    wire.close();
    service.child.kill('SIGKILL');
    await service.ended;
  });
  /** What the requests of each test need, whatever those before have done. */
  const furnish = async (tools: readonly object[] = []): Promise<void> => {
    await ask(url, key, 'POST', '/v1/tools/sync', { source: IDS.source, confirmRemovals: true, tools: [{ name: IDS.tool, description: 'd', isCore: true }, ...tools] });
    await ask(url, key, 'PUT', `/v1/agents/${IDS.agentId}`, {}, { 'if-match': '*' });
    await ask(url, key, 'PUT', `/v1/agents/${IDS.agentId}`, {});
    await ask(url, key, 'PUT', `/v1/conversations/${IDS.conversationId}/tool-loading`, { agentId: IDS.agentId });
  };

  const send = ({ method, takesIfMatch }: Operation, path: string, body?: string): Promise<WireAnswer> =>
    wire.send({ method, path, headers: { authorization: `Bearer ${key}`, ...(takesIfMatch && { 'if-match': '*' }) }, ...(body !== undefined && { body }) });
  /** An answer of the service's own making: whatever was sent, it is no fault of the service. */
  const expectClean = (what: string, { status, headers, text }: WireAnswer): void => {
    const isProblem = headers['content-type'] === 'application/problem+json; charset=utf-8';
    const clean = status < 300 || (status < 500 && isProblem) || (status === 503 && text.includes('REVISION_NOT_REACHED'));
    expect({ what, status, text: clean ? '' : text.slice(0, 500) }).toEqual({ what, status, text: '' });
  };
  /** How long others waited at the most, while the work went on. */
  const longestWait = async (work: () => Promise<unknown>): Promise<number> => {
    const other = new Wire(url, 1);
    const turn = { goesOn: true };
    let longest = 0;
    const asking = (async () => {
      while (turn.goesOn) {
        const start = performance.now();
        expect((await other.send({ method: 'GET', path: '/health/live', headers: {} })).status).toBe(200);
        longest = Math.max(longest, performance.now() - start);
        await sleep(5);
      }
    })();
    await work().finally(() => (turn.goesOn = false));
    await asking;
    other.close();
    return longest;
  };
  const memory = async (): Promise<number> => Number(/^process_resident_memory_bytes (\S+)$/mu.exec((await ask(url, null, 'GET', '/metrics')).body)?.[1]);

  it('answers every member of every body, whatever stands in it', async () => {
    await furnish();
    const withBody = operations.filter(({ body }) => body !== null);
    const tries = withBody.flatMap((operation) => {
      const { path, body = '{}' } = fill(operation, IDS);
      const base = JSON.parse(body) as Record<string, unknown>;
      return membersOf(document, operation).flatMap((member) => VALUES.map((value) => ({ operation, path, member, value, text: JSON.stringify({ ...base, [member]: 'HERE' }).replace('"HERE"', () => value) })));
    });
    expect(tries.length).toBeGreaterThan(3_000);
    const waited = await longestWait(() => inLanes(LANES, tries, async ({ operation, path, member, value, text }) => expectClean(`${operation.name} ${member} ${value.slice(0, 40)}`, await send(operation, path, text))));
    expect(waited).toBeLessThan(PATIENCE);
  }, 600_000);

  it('answers bodies of every kind, whatever they are', async () => {
    await furnish();
    const tries = operations.filter(({ method }) => method !== 'GET').flatMap((operation) => BODIES.map((body) => ({ operation, body })));
    const waited = await longestWait(() => inLanes(LANES, tries, async ({ operation, body }) => {
      // A body beyond its limit is answered before it is sent, and the connection may end meanwhile.
      const answer = await send(operation, fill(operation, IDS).path, body).catch((error: unknown) => error as NodeJS.ErrnoException);
      if ('headers' in answer) expectClean(`${operation.name} ${body.slice(0, 40)}`, answer);
      else expect([answer.code, body.length > 256 * 1024]).toEqual([expect.stringMatching(/^(?:ECONNRESET|EPIPE)$/u), true]);
    }));
    expect(waited).toBeLessThan(PATIENCE);
  }, 600_000);

  it('answers every name in an address, whatever it is', async () => {
    const tries = operations.flatMap((operation) => NAMES.flatMap((name) => {
      const { path, body } = fill(operation, IDS, () => name);
      return [{ operation, path, body }, { operation, path: `${fill(operation, IDS).path}?cursor=${name}&${name}=1`, body }];
    }));
    await inLanes(LANES, tries, async ({ operation, path, body }) => {
      const answer = await send(operation, path, body);
      expectClean(`${operation.method} ${path.slice(0, 100)}`, answer);
      expect(answer.headers['x-injected']).toBeUndefined();
    });
  }, 600_000);

  it('judges hostile schemas, patterns and conditions, and answers others meanwhile', async () => {
    const s = (pattern: string): object => ({ properties: { s: { type: 'string', pattern } } });
    const schemas: readonly object[] = [
      s('^(a+)+$'), s('(a|aa)+$'), s('^(([a-z])+.)+[A-Z]([a-z])+$'), s(`${'a?'.repeat(40)}${'a'.repeat(40)}`), s('(x+x+)+y'), s('(?=(a+))*b'), { patternProperties: { '^(a+)+$': { type: 'string' } } },
      { properties: { l: { type: 'array', uniqueItems: true } } }, { $defs: { n: { anyOf: [{ $ref: '#/$defs/n' }, { properties: { x: { $ref: '#/$defs/n' } } }] } }, $ref: '#/$defs/n' }, { allOf: Array.from({ length: 500 }, () => ({ anyOf: [s('(a+)+$'), s('(a*)*$')] })) },
    ];
    const conditions = ['attributes.l.all(x, attributes.l.all(y, attributes.l.all(z, x + y + z != -1.0)))', "attributes.s.matches('^(a+)+$')", `${'!'.repeat(1_000)}true`, `${'('.repeat(500)}true${')'.repeat(500)}`, `size(${Array.from({ length: 200 }, () => 'attributes.s').join(' + ')}) > 0`, '[1,2,3].map(x, attributes.l.map(y, attributes.l)).size() > 0'];
    await furnish([...schemas.map((inputSchema, i) => ({ name: `schema${i}`, description: 'd', isCore: true, inputSchema })), ...conditions.map((active, i) => ({ name: `condition${i}`, description: 'd', isCore: true, active }))]);
    const attributes = { s: `${'a'.repeat(5_000)}!`, l: Array.from({ length: 1_000 }, (_, i) => i + 0.5) };
    const given = { s: `${'a'.repeat(5_000)}!`, [`${'a'.repeat(200)}!`]: 1, l: Array.from({ length: 5_000 }, (_, i) => [i]), x: { x: {} } };
    const rounds = Array.from({ length: 4 }).flatMap((_, round) => [
      ...schemas.map((__, i) => ({ route: '/v1/check', body: { agentId: IDS.agentId, toolName: `schema${i}`, arguments: given } })),
      { route: '/v1/decide', body: { agentId: IDS.agentId, context: { attributes: { ...attributes, round } } } },
    ]);
    const waited = await longestWait(() => inLanes(LANES, rounds, async ({ route, body }) => {
      const answer = await ask(url, key, 'POST', route, body);
      expect({ route, status: answer.status }).toEqual({ route, status: 200 });
      if (route === '/v1/decide') expect(answer.body.toolNames).not.toContain('condition0');
    }));
    expect(waited).toBeLessThan(PATIENCE);
  }, 600_000);

  it('is none the worse afterwards', async () => {
    await furnish();
    expect((await ask(url, key, 'POST', '/v1/decide', { agentId: IDS.agentId })).body.toolNames).toContain(IDS.tool);
    expect(await memory()).toBeLessThan(MOST_MEMORY);
    expect(service.output().split('\n').filter((line) => /^\{"level":[56]0/u.test(line))).toEqual([]);
    expect(service.child.exitCode).toBeNull();
  });

  it('lets no client be too slow or send too many headers, and serves the others', async () => {
    const slow = spawnService({ ...(await environment()), TOOLCRIB_REQUEST_TIMEOUT_MS: '3000' });
    const at = await listening(slow);
    await ready(at);
    const { port } = new URL(at);
    /** What comes back, and after how long, when these pieces are sent one after another. */
    const dribble = (pieces: readonly string[], everyMs: number): Promise<{ text: string; ms: number }> => new Promise((resolve) => {
      const start = performance.now();
      let text = '';
      const socket = net.connect(Number(port), '127.0.0.1');
      const timer = setInterval(() => {
        const piece = waiting.shift();
        if (piece !== undefined && socket.writable) socket.write(piece);
      }, everyMs);
      const waiting = [...pieces];
      socket.on('data', (chunk) => (text += chunk.toString())).on('error', () => undefined).on('close', () => {
        clearInterval(timer);
        resolve({ text, ms: performance.now() - start });
      });
    });
    const letters = (text: string): string[] => Array.from(text.padEnd(400, 'x'));
    const head = `POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${PLATFORM_KEY}\r\nContent-Type: application/json\r\nContent-Length: 300\r\n\r\n`;
    const clients = Array.from({ length: 30 }).flatMap(() => [dribble(letters('GET /health/live HTTP/1.1\r\nHost: x\r\nX-Slow: '), 40), dribble([head, ...letters('{')], 40), dribble([], 1_000)]);
    const served: number[] = [];
    for (let i = 0; i < 20; i += 1) {
      const start = performance.now();
      expect((await ask(at, null, 'GET', '/health/live')).status).toBe(200);
      served.push(performance.now() - start);
      await sleep(50);
    }
    expect(Math.max(...served)).toBeLessThan(PATIENCE);
    for (const { text, ms } of await Promise.all(clients)) {
      expect(ms).toBeLessThan(3_000 + PATIENCE);
      expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nContent-Type: application\/problem\+json[^]*"code":"REQUEST_TIMEOUT"/u);
    }
    const large = [`GET /health/live HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`, `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, `GET /health/live HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 3_000 }, (_, i) => `X-${i}: y\r\n`).join('')}\r\n`];
    for (const request of large) expect((await dribble([request], 1)).text).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n[^]*"code":"HEADERS_TOO_LARGE"/u);
    slow.child.kill('SIGTERM');
    expect(await slow.ended).toBe(0);
  });
});

/** The members that the document gives the body of an operation. */
function membersOf({ paths, components }: Record<string, any>, { method, path }: Operation): string[] {
  const { schema } = paths[path][method.toLowerCase()].requestBody.content['application/json'];
  return Object.keys((schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)]).properties ?? {});
}
