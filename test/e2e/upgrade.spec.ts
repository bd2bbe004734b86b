import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newPostgresUrl, postgresServer } from '../support/databases.js';
import type { EventClient } from '../support/event-client.js';
import { openStream } from '../support/event-client.js';
import type { Replica } from '../support/fleet.js';
import { FLEET_KEY, Fleet, FleetTenant, becomes } from '../support/fleet.js';
import { builtAt, oldCommits } from '../support/old-builds.mjs';
import { ask, spawnService } from '../support/process.js';

/** With packages to install and two builds to make on a busy machine. */
const BUILD_MS = 600_000;
const HEARD_MS = 20_000;
const LOADING = '/v1/conversations/c/tool-loading';

const commits = postgresServer === undefined ? [] : oldCommits();
/** All at once, for they wait for packages; one that fails is told where it is needed. */
let builds: ReadonlyMap<string, Promise<string>>;
beforeAll(() => {
  builds = new Map(commits.map(({ commit }) => [commit, builtAt(commit)]));
  for (const build of builds.values()) build.catch(() => undefined);
});

/** How far a stream has come: what can not be told one by one is told as `resync`, and counts as heard. */
const heard = ({ events }: EventClient): number => Number(events.at(-1)?.id ?? 0);

(commits.length === 0 ? describe.skip : describe).each(commits)('$what ($commit)', ({ commit }) => {
  let hasStream: boolean;
  let oldBuild: Fleet;
  let newBuild: Fleet;
  let old: Replica;
  let now: Replica;
  let tenant: FleetTenant;
  beforeAll(async () => {
    const folder = (await builds.get(commit)) ?? '';
    hasStream = '/v1/changes' in JSON.parse(await readFile(path.join(folder, 'openapi/openapi.json'), 'utf8')).paths;
    const url = await newPostgresUrl(postgresServer ?? '');
    const job = spawnService({ DATABASE_URL: url }, ['migrate']);
    if ((await job.ended) !== 0) throw new Error(job.output());
    const redis = process.env['TEST_REDIS_URL'];
    const environment = { DATABASE_URL: url, TOOLCRIB_MIGRATE: 'off', ...(redis !== undefined && { REDIS_URL: redis }) };
    oldBuild = new Fleet(environment, path.join(folder, 'dist/main.js'));
    newBuild = new Fleet(environment);
    old = await oldBuild.add();
    tenant = await FleetTenant.create(old, 'acme');
  }, BUILD_MS);
  afterAll(async () => {
    await oldBuild.stop();
    await newBuild.stop();
  });

  /** The names that the agent is given, by an answer that is not from before the revision. */
  const given = async (replica: Replica, minRevision = 0): Promise<string[]> => {
    const { status, body } = await tenant.decide(replica, { minRevision });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.toolNames;
  };

  /** What every build tells of an entry; one may tell more of it than another. */
  const entries = async (replica: Replica): Promise<{ revision: number; entity: string; id: string; action: string; reverts: number | null; by: string }[]> => {
    const { body } = await tenant.send(replica, 'GET', '/v1/history?limit=500');
    return body.items.map(({ revision, entity, id, action, reverts, actor }: any) => ({ revision, entity, id, action, reverts, by: actor.keyId }));
  };

  const latest = async (replica: Replica): Promise<number> => (await entries(replica))[0]?.revision ?? 0;

  it('works on the schema of this one: syncs, writes, decides, loads, and keeps history', async () => {
    const tools = ['a', 'b'].map((name) => ({ name, description: 'd', isCore: true, loadingCategory: 'k' }));
    const synced = await tenant.send(old, 'POST', '/v1/tools/sync', { source: 's', categories: [{ key: 'k', label: 'K', whenToUse: 'now' }], tools });
    expect(synced.status).toBe(200);
    expect((await tenant.send(old, 'PUT', '/v1/agents/m', {})).status).toBe(201);
    expect(await given(old)).toEqual(['a', 'b']);
    expect(await given(old, await tenant.switch(old, 'b', false))).toEqual(['a']);
    expect((await tenant.send(old, 'PUT', LOADING, { agentId: 'm' })).status).toBe(201);
    expect((await tenant.send(old, 'POST', `${LOADING}/load`, { toolNames: ['a'] })).body.loadedNow).toEqual(['a']);
    expect((await tenant.send(old, 'POST', '/v1/check', { agentId: 'm', conversationId: 'c', toolName: 'a' })).body.allowed).toBe(true);
    expect((await entries(old)).map(({ revision, entity }) => [revision, entity])).toEqual([[3, 'agent'], [2, 'agent'], [1, 'sync']]);
  });

  it('runs beside this one: each decides by what the other writes', async () => {
    now = await newBuild.add({}, (replica) => tenant.warmUp(replica));
    expect(await given(now)).toEqual(['a']);
    expect(await given(old, await tenant.switch(now, 'b', true))).toEqual(['a', 'b']);
    expect(await given(now, await tenant.switch(old, 'a', false))).toEqual(['b']);
    // Without being asked to wait: by news, or by looking.
    await tenant.switch(now, 'a', true);
    expect(await becomes(async () => (await given(old)).includes('a'), HEARD_MS)).toBe(true);
    await tenant.switch(old, 'b', false);
    expect(await becomes(async () => !(await given(now)).includes('b'), HEARD_MS)).toBe(true);
    expect(await entries(now)).toEqual(await entries(old));
  });

  it('takes back what this one wrote, and this one what it wrote', async () => {
    for (const [writer, other] of [[old, now], [now, old]] as const) {
      const switched = await tenant.switch(writer, 'b', true);
      expect(await given(other, switched)).toEqual(['a', 'b']);
      const reverted = await tenant.send(other, 'POST', `/v1/history/${switched}/revert`, {});
      expect(reverted.status).toBe(200);
      expect((await entries(writer))[0]).toMatchObject({ revision: switched + 1, reverts: switched });
      expect(await given(writer, switched + 1)).toEqual(['a']);
    }
  });

  it('shares conversations with this one', async () => {
    const loaded = async (replica: Replica): Promise<string[]> => (await tenant.send(replica, 'GET', LOADING)).body.toolLoading.loaded;
    await tenant.switch(now, 'b', true);
    for (const [one, other] of [[old, now], [now, old]] as const) {
      await tenant.send(one, 'DELETE', LOADING);
      expect((await tenant.send(one, 'PUT', LOADING, { agentId: 'm' })).status).toBe(201);
      await tenant.send(other, 'POST', `${LOADING}/load`, { toolNames: ['b'] });
      await tenant.send(one, 'POST', `${LOADING}/load`, { toolNames: ['a'] });
      expect([await loaded(one), await loaded(other)]).toEqual([['b', 'a'], ['b', 'a']]);
    }
  });

  it('tells and is told of changes: a stream passes over no revision, whoever wrote it', async () => {
    const streams = await Promise.all((hasStream ? [old, now] : [now]).map(({ url }) => openStream(url, tenant.key, { 'last-event-id': '0' })));
    await tenant.switch(old, 'b', false);
    const last = await tenant.switch(now, 'b', true);
    for (const stream of streams) {
      expect(await becomes(() => Promise.resolve(heard(stream) === last), HEARD_MS)).toBe(true);
      const revisions = stream.events.filter(({ event }) => event === 'revision').map(({ id }) => Number(id));
      expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
      stream.close();
    }
  });

  it('knows keys that this one made, and refuses those that it revoked', async () => {
    for (const [one, other] of [[old, now], [now, old]] as const) {
      const { body } = await tenant.send(one, 'POST', '/v1/keys', { name: 'runtime', scopes: ['decide'] });
      const decide = async (): Promise<number> => (await ask(other.url, body.key, 'POST', '/v1/decide', { agentId: 'm' })).status;
      expect(await becomes(async () => (await decide()) === 200, HEARD_MS)).toBe(true);
      expect((await tenant.send(one, 'DELETE', `/v1/keys/${body.keyId}`)).status).toBe(204);
      expect(await becomes(async () => (await decide()) === 401, HEARD_MS)).toBe(true);
    }
  });

  it('is rolled out by this one and comes back after it, on all that this one has written', async () => {
    await oldBuild.kill(old);
    expect((await tenant.send(now, 'PUT', '/v1/agents/only-new', { displayName: 'Written by the new build', tools: { disabled: ['a'] } })).status).toBe(201);
    await tenant.switch(now, 'b', false);
    const expected = await entries(now);
    await newBuild.kill(now);
    // This time as it would be started by somebody who lets replicas migrate: what it does not know is left alone.
    old = await oldBuild.add({ TOOLCRIB_MIGRATE: 'on' }, (replica) => tenant.warmUp(replica));
    expect(await given(old)).toEqual(['a']);
    expect(await entries(old)).toEqual(expected);
    expect((await tenant.send(old, 'GET', '/v1/agents/only-new')).body).toMatchObject({ displayName: 'Written by the new build', tools: { disabled: ['a'] } });
    expect(await tenant.switch(old, 'b', true)).toBe(await latest(old));
    now = await newBuild.add({}, (replica) => tenant.warmUp(replica));
    expect(await given(now)).toEqual(['a', 'b']);
    expect((await ask(now.url, FLEET_KEY, 'DELETE', '/v1/tenants/acme')).status).toBe(204);
    expect([...oldBuild.errors(), ...newBuild.errors()]).toEqual([]);
  });
});
