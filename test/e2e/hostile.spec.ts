import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DATABASES } from '../support/databases.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { Caller, newTenant, startTestService } from '../support/test-service.js';

const NUL = '\u0000';

/** A JSON text with something in it that no JavaScript value can hold. */
const withRaw = (value: unknown, raw: string): string => JSON.stringify(value).replace('"RAW"', raw);

describe.each(DATABASES)('hostile input, $name', (kind) => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    service = await startTestService(kind);
    tenant = await newTenant(service);
    await tenant.caller.send('put', '/v1/agents/a', {});
  });
  afterAll(() => service.close());

  const declare = (name: string, inputSchema: unknown): Promise<unknown> =>
    tenant.caller.post('/v1/tools/sync', { source: 's', mode: 'partial', tools: [{ name, description: 'd', isCore: true, inputSchema }] }).then(({ body }) => body);
  const check = async (toolName: string, given: unknown): Promise<{ code: string; errors?: unknown[] }> =>
    (await tenant.caller.post('/v1/check', { agentId: 'a', toolName, arguments: given })).body;
  /** How often others got their turn meanwhile. Work that holds the process runs into the limit of the test itself. */
  const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    let turns = 0;
    let working = true;
    const count = (): void => {
      turns += 1;
      if (working) setImmediate(count);
    };
    count();
    await work();
    working = false;
    return turns;
  };

  it('in a schema neither lets a call through nor takes the process with it', async () => {
    for (const $async of [true, 'yes']) {
      await declare('asynchronous', { $async, type: 'object', required: ['x'] });
      expect(await check('asynchronous', {})).toMatchObject({ code: 'INVALID_ARGUMENTS', errors: [{ path: '/x' }] });
    }
    await declare('many', { type: 'array', items: { required: Array.from({ length: 5_000 }, (_, i) => `k${i}`) } });
    expect(await check('many', Array.from({ length: 5_000 }, () => ({})))).toMatchObject({ code: 'INVALID_ARGUMENTS' });
    for (const keyword of ['id', '$recursiveRef']) {
      await declare('dialect', { [keyword]: '#x', type: 'object', required: ['x'] });
      expect((await check('dialect', { x: 1 })).code).toBe('OK');
    }
  });

  it('in a pattern or a condition keeps nobody waiting for long', async () => {
    await declare('alternatives', { properties: { s: { type: 'string', pattern: `^${'(?:a|a)'.repeat(30)}$` } } });
    await declare('half-anchored', { properties: { s: { type: 'string', pattern: '^x|a*b' } } });
    await declare('optional', { properties: { s: { type: 'string', pattern: `^${'a?'.repeat(30)}${'a'.repeat(30)}$` } } });
    const nested = 'attributes.l.//c\nall(x, attributes.l.//c\nall(y, x + y != -1.0))';
    const heavy = Array.from({ length: 60 }, (_, i) => ({ name: `loop${i}`, description: 'd', isCore: true, active: `${nested} || ${i} == 0` }));
    await tenant.caller.post('/v1/tools/sync', { source: 'conditions', tools: [...heavy, { name: 'sizes', description: 'd', isCore: true, active: `size(${Array.from({ length: 300 }, () => 'scene').join(' + ')}) > 1` }] });
    expect((await check('alternatives', { s: `${'a'.repeat(30)}b` })).code).toBe('INVALID_ARGUMENTS');
    expect((await check('half-anchored', { s: 'a'.repeat(60_000) })).code).toBe('INVALID_ARGUMENTS');
    expect((await check('optional', { s: 'a'.repeat(29) })).code).toBe('INVALID_ARGUMENTS');
    const { body } = await tenant.caller.post('/v1/decide', { agentId: 'a', context: { scene: 's'.repeat(200_000), attributes: { l: Array.from({ length: 4_000 }, (_, i) => i) } } });
    expect(body.disabledReasons.loop7.code).toBe('INACTIVE');
    await tenant.caller.post('/v1/tools/sync', { source: 'conditions', confirmRemovals: true, tools: [] });
  });

  it('of any size is judged by its size first, and rejected alone', async () => {
    for (const type of ['strin', 'string']) {
      const tools = [{ name: 'huge', description: 'd', inputSchema: { allOf: Array.from({ length: 100_000 }, () => ({ type })) } }, { name: 'small', description: 'd' }];
      const { body } = await tenant.caller.post('/v1/tools/sync', { source: 'sizes', dryRun: true, tools });
      expect(body).toMatchObject({ added: ['small'], rejected: [{ name: 'huge', code: 'INVALID_SCHEMA' }] });
    }
    expect(await declare('wide', { description: '宽'.repeat(22_000) })).toMatchObject({ rejected: [{ code: 'INVALID_SCHEMA' }] });
  });

  it('sent by strangers is not even read when it is large', async () => {
    const large = `{"source":"s","tools":[${'[],'.repeat(200_000)}[]]}`;
    for (const headers of [{}, { authorization: 'Bearer nonsense' }] as Record<string, string>[]) expect((await new Caller(service, headers).post('/v1/tools/sync', large)).status).toBe(401);
    expect((await tenant.caller.post('/v1/tools/sync', large)).body.code).toBe('LIMIT_EXCEEDED');
  });

  it('with numbers that JavaScript can not hold is refused, not stored as something else', async () => {
    const schema = { properties: { a: { enum: [1, 'RAW'] } } };
    const sync = { source: 's', mode: 'partial', tools: [{ name: 'numbers', description: 'd', inputSchema: schema }] };
    expect((await tenant.caller.post('/v1/tools/sync', withRaw(sync, '1e999'))).body).toMatchObject({ status: 400, code: 'INVALID_JSON' });
    for (const raw of ['9'.repeat(400), `${'9'.repeat(250)}e99`, `-${'9'.repeat(299)}.5E+10`, `${'9'.repeat(210)}e0099`, '0.1e999']) {
      expect((await tenant.caller.post('/v1/tools/sync', withRaw(sync, raw))).body).toMatchObject({ status: 400, code: 'INVALID_JSON' });
    }
    expect((await tenant.caller.post('/v1/tools/sync', withRaw(sync, '1e300'))).body).toMatchObject({ added: ['numbers'] });
    expect((await tenant.caller.post('/v1/tools/sync', withRaw(sync, '1e300'))).body).toMatchObject({ unchanged: 1 });
  });

  it('with NUL characters or half surrogates is refused wherever it would be stored or looked up', async () => {
    const at = (path: string): string => path.replace('NUL', encodeURIComponent(NUL));
    for (const [method, path] of [['delete', '/v1/agents/NUL'], ['patch', '/v1/tools/NUL'], ['delete', '/v1/tools/NUL'], ['delete', '/v1/keys/NUL'], ['get', '/v1/tools?search=NUL']] as const) {
      expect((await tenant.caller.send(method, at(path), method === 'patch' ? {} : undefined)).status).toBe(400);
    }
    const cursor = Buffer.from(JSON.stringify([NUL])).toString('base64url');
    expect((await tenant.caller.get(`/v1/keys?cursor=${cursor}`)).body.code).toBe('INVALID_QUERY');
    for (const odd of [NUL, '\ud800']) {
      const documents = [{ tools: { enabled: [odd] } }, { toolOverrides: { [odd]: {} } }, { subagentConfig: { allowedPresetAgentIds: [odd] } }, { displayName: odd }];
      for (const document of documents) expect((await tenant.caller.send('put', '/v1/agents/odd', document)).status).toBe(422);
      for (const category of [{ key: 'k', label: odd, whenToUse: 'w' }, { key: odd, label: 'l', whenToUse: 'w' }]) {
        expect((await tenant.caller.post('/v1/tools/sync', { source: 's', tools: [], categories: [category] })).status).toBe(422);
      }
      expect((await tenant.caller.post('/v1/decide', { agentId: odd })).status).toBe(404);
      expect((await tenant.caller.post('/v1/check', { agentId: 'a', toolName: odd })).body.code).toBe('UNKNOWN_TOOL');
    }
  });

  it('without what it must have is told so, place by place, and not without end', async () => {
    expect((await tenant.caller.post('/v1/agents/import', { agents: [{}, { agentId: 7 }] })).body.errors).toEqual(expect.arrayContaining([expect.objectContaining({ path: '/agents/0/agentId' }), expect.objectContaining({ path: '/agents/1/agentId' })]));
    expect((await tenant.caller.post('/v1/decide', { agentId: 'a', select: Array.from({ length: 50_000 }, () => 0) })).body.errors).toHaveLength(100);
    expect((await tenant.caller.post('/v1/decide', { agentId: 'a', 'a/b~c': 1 })).body.errors[0].path).toBe('/a~1b~0c');
  });

  it('in patches adds up to no more than a body may hold', async () => {
    const overrides = (from: number): object => Object.fromEntries(Array.from({ length: 2_500 }, (_, i) => [`t${from + i}`, { label: 'x' }]));
    expect((await tenant.caller.write('patch', '/v1/agents/a', { toolOverrides: overrides(0) })).status).toBe(200);
    expect((await tenant.caller.write('patch', '/v1/agents/a', { toolOverrides: overrides(2_500) })).status).toBe(200);
    expect((await tenant.caller.write('patch', '/v1/agents/a', { toolOverrides: { oneMore: { label: 'x' } } })).body.code).toBe('LIMIT_EXCEEDED');
    expect((await tenant.caller.write('patch', '/v1/agents/a', { toolOverrides: null })).body.toolOverrides).toEqual({});
    await declare('governed', { type: 'object' });
    for (let i = 0, last = 200; i < 3 && last === 200; i += 1) {
      ({ status: last } = await tenant.caller.write('patch', '/v1/tools/governed', { extra: { [`big${i}`]: 'x'.repeat(120_000) } }));
      expect(last).toBe(i < 2 ? 200 : 422);
    }
  });

  it('that is no request at all is still answered with a problem', async () => {
    expect((await tenant.caller.get('/v1/tools/%zz')).body).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
    expect((await tenant.caller.get(`/v1/tools/${'x'.repeat(2_000)}`)).body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    await service.app.listen(0, '127.0.0.1').catch(() => undefined);
    const { port } = service.app.getHttpServer().address() as net.AddressInfo;
    const answer = await new Promise<string>((resolve) => {
      let got = '';
      const socket = net.connect(port, '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      socket.on('data', (chunk) => (got += chunk.toString()));
      socket.on('close', () => resolve(got));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/problem\+json/u);
  });

  it('in a large batch or import gives the others their turn', async () => {
    const documents = Array.from({ length: 600 }, (_, i) => ({ agentId: `many${i}`, tools: { enabled: ['x'] } }));
    expect(await turnsDuring(() => tenant.caller.post('/v1/agents/import', { agents: documents }))).toBeGreaterThan(10);
    const tools = Array.from({ length: 2_000 }, (_, i) => ({ name: `b${i}`, description: 'd', isCore: true }));
    await tenant.caller.post('/v1/tools/sync', { source: 'batch', tools });
    const requests = Array.from({ length: 60 }, () => ({ agentId: 'a', include: [] }));
    expect(await turnsDuring(() => tenant.caller.post('/v1/decide/batch', { requests }))).toBeGreaterThan(30);
  });
});
