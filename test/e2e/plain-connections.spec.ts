import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PolicyLoader } from '../../src/policy/policy.loader.js';
import { DATABASES } from '../support/databases.js';
import { RawConnection, plainRequest } from '../support/raw-connection.js';
import type { RawAnswer } from '../support/raw-connection.js';
import { keepSecret, overhearAnswer } from '../support/secrets.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { newTenant, startTestService } from '../support/test-service.js';

const QUESTION = { agentId: 'm', context: { scene: 'chat' } };

interface Served {
  readonly service: TestService;
  readonly tenant: TestTenant;
  readonly url: string;
  readonly key: string;
}

async function serve(environment: Record<string, string> = {}): Promise<Served> {
  const [kind] = DATABASES;
  if (kind === undefined) throw new Error('no database');
  const service = await startTestService(kind, environment);
  await service.app.listen(0, '127.0.0.1');
  const tenant = await newTenant(service);
  await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: '描述 🛠', isCore: true }, { name: 'b', description: 'd' }] });
  await tenant.caller.send('put', '/v1/agents/m', {});
  const { body } = await tenant.caller.post('/v1/keys', { name: 'runtime', scopes: ['decide'] });
  keepSecret(body.key);
  return { service, tenant, url: await service.app.getUrl(), key: body.key };
}

/** All but what differs each time. */
function told(answer: RawAnswer | null): unknown {
  if (answer === null) return null;
  overhearAnswer('post', '/v1/decide', answer.status, answer.text);
  const { date, 'x-request-id': id, 'keep-alive': kept, ...rest } = answer.headers;
  // How long one is kept that is closed means nothing.
  const headers = rest['connection'] === 'close' ? rest : { ...rest, 'keep-alive': kept };
  return { status: answer.status, headers, text: answer.text.replaceAll(id ?? '', 'ID'), isDated: date !== undefined };
}

describe('connections of plain requests', () => {
  let served: Served;
  let connection: RawConnection;
  /** Requests that Node's parser read. */
  let requests = 0;
  beforeAll(async () => {
    served = await serve();
    const server = served.service.app.getHttpServer();
    server.on('request', () => (requests += 1));
  });
  afterAll(() => served.service.close());
  beforeEach(async () => {
    requests = 0;
    connection = await RawConnection.to(served.url);
  });
  afterEach(() => connection.leave());

  const decide = (body: unknown = QUESTION, headers = {}): string => plainRequest('/v1/decide', served.key, body, headers);
  const ask = async (text: string): Promise<RawAnswer | null> => {
    connection.say(text);
    return connection.answer();
  };

  it('are told what those of Node are told, and Node reads none of it', async () => {
    const { key } = served;
    const asked = [
      decide(), decide(), decide(), decide(QUESTION, { 'Accept-Language': 'zh' }), decide({ ...QUESTION, include: [] }), decide({ agentId: 'nobody' }), decide({}), decide('{'), decide('[]'), decide('{"agentId":"m","é":1}'),
      decide(QUESTION, { 'X-Tenant-Id': 'other' }), decide(QUESTION, { 'Content-Type': 'text/plain' }), decide(QUESTION, { Authorization: 'Bearer nothing' }), decide(QUESTION, { 'X-Request-Id': 'mine' }),
      plainRequest('/v1/check', key, { ...QUESTION, toolName: 'a' }), plainRequest('/v1/check', key, { ...QUESTION, toolName: 'gone' }), plainRequest('/v1/check', key, {}), plainRequest('/v1/check', key, { ...QUESTION, toolName: 'a', arguments: { x: '长'.repeat(9) } }), plainRequest('/v1/check', key, { agentId: 'nobody', toolName: 'a' }), plainRequest('/v1/check', key, { ...QUESTION, toolName: 'b' }, { 'Accept-Language': 'zh' }), plainRequest('/v1/search', key, { ...QUESTION, query: 'd' }),
    ];
    // One that can not be read ends its connection, so each has its own.
    const alone = async (text: string): Promise<RawAnswer | null> => {
      const other = await RawConnection.to(served.url);
      other.say(text);
      const answer = await other.answer();
      other.leave();
      return answer;
    };
    const inTurn = async (texts: readonly string[]): Promise<(RawAnswer | null)[]> => {
      const answers = [];
      for (const text of texts) answers.push(await alone(text));
      return answers;
    };
    const etag = (await alone(asked[0] ?? ''))?.headers['etag'] ?? '';
    asked.push(decide(QUESTION, { 'If-None-Match': etag }));
    const here = await inTurn(asked);
    expect(requests).toBe(0);
    // An option that Node alone reads takes a connection there.
    const there = await inTurn(asked.map((text) => text.replace('Host: crib', 'Host: crib\r\nConnection: keep-alive, x')));
    expect(requests).toBe(asked.length);
    expect(here.map(told)).toEqual(there.map(told));
    // Nor does a spelling that is rare keep a request from the framework alone.
    const ordinary = await inTurn(asked.map((text) => text.replace('Content-Type: application/json', 'Content-Type: application/json; charset="utf-8"')));
    expect(ordinary.map(told)).toEqual(here.map(told));
    expect(here.map((answer) => answer?.status)).toEqual([200, 200, 200, 200, 200, 404, 422, 400, 422, 422, 404, 415, 401, 200, 200, 200, 422, 200, 404, 200, 200, 304]);
  });

  it('say who asked, by which id', async () => {
    const [first, second] = [await ask(decide()), await ask(decide())];
    expect(first?.headers['x-request-id']).not.toBe(second?.headers['x-request-id']);
    expect((await ask(decide(QUESTION, { 'X-Request-Id': 'mine' })))?.headers['x-request-id']).toBe('mine');
  });

  it('go to Node with the first request that is not plain, whatever went before', async () => {
    expect((await ask(decide()))?.status).toBe(200);
    expect((await ask(`GET /v1/agents/m HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${served.key}\r\n\r\n`))?.status).toBe(403);
    expect((await ask(decide()))?.status).toBe(200);
    expect(requests).toBe(2);
  });

  it.each([1, 7, 150])('read what comes in pieces of %i bytes', async (size) => {
    expect((await ask(decide()))?.status).toBe(200);
    const bytes = Buffer.from(decide() + decide({ ...QUESTION, include: [] }));
    for (let at = 0; at < bytes.length; at += size) {
      connection.say(bytes.subarray(at, at + size));
      if (at % 50 === 0) await sleep(1);
    }
    expect((await connection.answers(2)).map((answer) => [answer?.status, JSON.parse(answer?.text ?? '').tools !== undefined])).toEqual([[200, true], [200, false]]);
  });

  it('keep the order of what is asked without waiting', async () => {
    const { key } = served;
    const check = (toolName: string): string => plainRequest('/v1/check', key, { ...QUESTION, toolName });
    // One after another in one piece; in pieces of their own, while one is under way; and behind an answer that is to be sent.
    for (const pieces of [[decide() + check('a') + check('gone')], [check('a'), decide(), check('gone')], [decide(), check('gone'), check('a') + decide()]]) {
      const other = await RawConnection.to(served.url);
      for (const piece of pieces) {
        other.say(piece);
        await new Promise(setImmediate);
      }
      const kinds = pieces.join('').match(/"toolName":"\w+"|"scene":"chat"\}\}/gu)?.map((found) => found.replaceAll(/"toolName":|"scene".*/gu, ''));
      const answers = await other.answers(kinds?.length ?? 0);
      expect(answers.map((answer) => [answer?.status, JSON.parse(answer?.text ?? '{}').code])).toEqual(kinds?.map((kind) => [200, { '"a"': 'OK', '"gone"': 'UNKNOWN_TOOL' }[kind]]));
      other.leave();
    }
  });

  it('answer many at once, each its own', async () => {
    const others = await Promise.all(Array.from({ length: 20 }, () => RawConnection.to(served.url)));
    for (let round = 0; round < 5; round += 1) {
      others.forEach((other, i) => other.say(i % 3 === 0 ? plainRequest('/v1/check', served.key, { ...QUESTION, toolName: `t${i}-${round}` }) : decide({ ...QUESTION, context: { attributes: { i, round } } }, { 'X-Request-Id': `id-${i}-${round}` })));
      const answers = await Promise.all(others.map((other) => other.answer()));
      expect(answers.map((answer) => answer?.status)).toEqual(Array(20).fill(200));
      expect(answers.every((answer, i) => i % 3 === 0 || answer?.headers['x-request-id'] === `id-${i}-${round}`)).toBe(true);
    }
    others.forEach((other) => other.leave());
    expect(requests).toBe(0);
  });

  it('see a write, a revoked key and a stop at once', async () => {
    for (let i = 0; i < 3; i += 1) await ask(decide());
    await served.tenant.caller.write('patch', '/v1/agents/m', { tools: { disabled: ['a'] } });
    expect(JSON.parse((await ask(decide()))?.text ?? '').toolNames).toEqual([]);
    await served.tenant.caller.write('patch', '/v1/agents/m', { tools: { disabled: [] } });
    expect(JSON.parse((await ask(decide()))?.text ?? '').toolNames).toEqual(['a']);
    const { body } = await served.tenant.caller.post('/v1/keys', { name: 'doomed', scopes: ['decide'] });
    keepSecret(body.key);
    const doomed = plainRequest('/v1/decide', body.key, QUESTION);
    expect([(await ask(doomed))?.status, (await ask(doomed))?.status]).toEqual([200, 200]);
    await served.tenant.caller.send('delete', `/v1/keys/${body.keyId}`);
    expect((await ask(doomed))?.status).toBe(401);
  });

  it('wait for what has to be read, and are let go when their client goes', async () => {
    const cold = await newTenant(served.service);
    const { body } = await cold.caller.post('/v1/keys', { name: 'runtime', scopes: ['decide'] });
    keepSecret(body.key);
    const loader = served.service.app.get(PolicyLoader);
    const load = loader.load.bind(loader);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    loader.load = async (...asked) => held.then(() => load(...asked));
    connection.say(plainRequest('/v1/decide', body.key, QUESTION));
    const gone = await RawConnection.to(served.url);
    gone.say(plainRequest('/v1/decide', body.key, QUESTION));
    await sleep(50);
    // Said while the first is under way.
    connection.say(decide());
    gone.hangUp();
    gone.leave();
    release();
    loader.load = load;
    expect((await connection.answers(2)).map((answer) => answer?.status)).toEqual([404, 200]);
  });

  it('do nothing that comes behind an answer which was the last', async () => {
    const admin = { Authorization: `Bearer ${(await served.tenant.caller.post('/v1/keys', { name: 'admin', scopes: ['admin'] }).then(({ body }) => (keepSecret(body.key), body.key)))}` };
    const write = plainRequest('/v1/agents/late', served.key, {}, admin).replace('POST', 'PUT');
    const said = [[decide('{'), write], [decide('{'), decide(), write]];
    for (const pieces of said) {
      const other = await RawConnection.to(served.url);
      other.say(pieces[0] ?? '');
      expect((await other.answer())?.status).toBe(400);
      for (const piece of pieces.slice(1)) other.say(piece);
      // Its side stays open, and the connection ends all the same.
      await other.isClosed();
      expect(await other.answer()).toBeNull();
    }
    expect((await served.tenant.caller.get('/v1/agents/late')).status).toBe(404);
  });

  it('are ended by a client that says no more, after its answers', async () => {
    connection.say(decide());
    connection.hangUp();
    expect([(await connection.answer())?.status, await connection.answer()]).toEqual([200, null]);
  });

  it('hold no more for a client that does not read than Node would', async () => {
    await served.tenant.caller.post('/v1/tools/sync', { source: 'large', tools: [{ name: 'large', description: 'x'.repeat(30_000), isCore: true }] });
    connection.stopReading();
    for (let i = 0; i < 1_000; i += 1) connection.say(decide());
    await sleep(500);
    // Thirty megabytes are more than a connection takes by itself.
    expect([requests > 0, requests < 700]).toEqual([true, true]);
    expect((await served.tenant.caller.post('/v1/decide', QUESTION)).status).toBe(200);
  });
});

describe('connections of plain requests that come to an end', () => {
  it('are refused when they say nothing, and closed when they are idle', async () => {
    const { service, url, key } = await serve({ TOOLCRIB_REQUEST_TIMEOUT_MS: '600' });
    const [silent, kept] = [await RawConnection.to(url), await RawConnection.to(url)];
    kept.say(plainRequest('/v1/decide', key, QUESTION));
    expect((await kept.answer())?.status).toBe(200);
    expect([(await silent.answer())?.status, await silent.answer()]).toEqual([408, null]);
    kept.say(plainRequest('/v1/decide', key, QUESTION));
    expect((await kept.answer())?.status).toBe(200);
    const server = service.app.getHttpServer();
    server.keepAliveTimeout = 200;
    const idle = await RawConnection.to(url);
    idle.say(plainRequest('/v1/decide', key, QUESTION));
    expect([(await idle.answer())?.headers['keep-alive'], await idle.answer()]).toEqual(['timeout=0', null]);
    await service.close();
  });

  it('are let go by a service that closes, answered until then, also where the client keeps its side', async () => {
    const { service, url, key } = await serve();
    const [idle, busy] = [await RawConnection.to(url), await RawConnection.to(url)];
    idle.say(plainRequest('/v1/decide', key, QUESTION));
    expect((await idle.answer())?.status).toBe(200);
    busy.say(plainRequest('/v1/decide', key, { ...QUESTION, minRevision: 1_000 }));
    await sleep(50);
    const startedAt = performance.now();
    const closing = service.close();
    expect([(await busy.answer())?.status, await busy.answer(), await idle.answer()]).toEqual([503, null, null]);
    await closing;
    expect(performance.now() - startedAt).toBeLessThan(6_000);
  });

  it('do not keep a service from closing by not reading', async () => {
    const { service, tenant, url, key } = await serve();
    for (let part = 0; part < 4; part += 1) {
      await tenant.caller.post('/v1/tools/sync', { source: `large-${part}`, tools: Array.from({ length: 100 }, (_, i) => ({ name: `large_${part}_${i}`, description: 'x'.repeat(30_000), isCore: true })) });
    }
    for (const type of ['application/json; charset="utf-8"', 'application/json']) {
      const stalled = await RawConnection.to(url);
      stalled.stopReading();
      stalled.say(plainRequest('/v1/decide', key, QUESTION, { 'Content-Type': type }));
    }
    await sleep(500);
    const startedAt = performance.now();
    await service.close();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('tell how often a key may ask, and refuse who asks too often', async () => {
    const { service, url, key } = await serve({ TOOLCRIB_RATE_PER_KEY: '3' });
    const connection = await RawConnection.to(url);
    const seen = [];
    for (let i = 0; i < 4; i += 1) {
      connection.say(plainRequest('/v1/decide', key, QUESTION));
      seen.push(await connection.answer());
    }
    expect(seen.map((answer) => [answer?.status, answer?.headers['ratelimit-remaining']])).toEqual([[200, '2'], [200, '1'], [200, '0'], [429, '0']]);
    expect([seen[3]?.headers['content-type'], JSON.parse(seen[3]?.text ?? '').code]).toEqual(['application/problem+json; charset=utf-8', 'TOO_MANY_REQUESTS']);
    connection.leave();
    await service.close();
  });
});
