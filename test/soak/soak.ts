import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet, Replica, Servers } from '../support/fleet.js';
import { FleetTenant, fleetOn, privateServers } from '../support/fleet.js';
import { ask } from '../support/process.js';
import { ChangeStream } from './change-stream.js';
import { AGENTS, SMALL_NAMES, SYNC, documentOf, smallSync } from './crib.js';
import type { Pace } from './faults.js';
import { breakEverything } from './faults.js';
import { Load } from './load.js';
import type { Entry, Fault, Run, TenantRun } from './record.js';
import { summaryOf } from './summary.js';
import { verify } from './verifier.js';

const REPLICAS = 3;
const APART = 'globex';
const TENANTS = ['acme', APART];
const [WRITERS, READERS] = [3, 6];
/** For the last changes to reach the readers of the stream. */
const SETTLE_MS = 2_000;

export interface Soak {
  /** At least; faults take the time that they take. */
  readonly ms: number;
  /** Null: nothing is broken. */
  readonly pace: Pace | null;
}

export interface Soaked {
  /** What was wrong, a sentence each. */
  readonly wrong: readonly string[];
  /** What the replicas logged as their own fault. */
  readonly logged: readonly string[];
  readonly run: Run;
  readonly summary: string;
}

/** Three replicas under full load on servers of their own, which are broken meanwhile where that is wanted; then all of it is judged. */
export async function soak({ ms, pace }: Soak): Promise<Soaked> {
  const servers = await privateServers();
  const fleet = fleetOn(servers);
  try {
    const first = await fleet.add();
    await Promise.all(Array.from({ length: REPLICAS - 1 }, () => fleet.add()));
    const run = await loaded(servers, fleet, first, { ms, pace });
    return { wrong: verify(run), logged: fleet.errors(), run, summary: summaryOf(run) };
  } finally {
    await fleet.stop();
    await servers.stop();
  }
}

async function loaded(servers: Servers, fleet: Fleet, first: Replica, { ms, pace }: Soak): Promise<Run> {
  const urls = (): string[] => fleet.replicas.map(({ url }) => url);
  const tenants = await Promise.all(TENANTS.map((tenantId) => furnished(first, tenantId)));
  const loads = tenants.map(({ tenantId, key }) => new Load(tenantId, key, urls, tenantId === APART));
  const streams = await Promise.all(tenants.map(async ({ key }) => new ChangeStream(key, urls, (await history(first.url, key, 1))[0]?.revision ?? 0)));
  const faults: Fault[] = [];
  for (const replica of fleet.replicas) await warmUp(tenants, replica);
  const beganAt = performance.now();
  const running = [...loads.map((load) => load.run(WRITERS, READERS)), ...streams.map((stream) => stream.run())];
  const broken = pace === null ? Promise.resolve() : breakEverything(servers, fleet, pace, (replica) => warmUp(tenants, replica), (fault) => faults.push(fault));
  await Promise.race([Promise.all([sleep(ms), broken]), Promise.all(running)]);
  for (const load of loads) load.stop();
  await Promise.all(running.slice(0, loads.length));
  const tookMs = performance.now() - beganAt;
  await sleep(SETTLE_MS);
  for (const stream of streams) stream.stop();
  const url = urls()[0] ?? first.url;
  const runs = await Promise.all(loads.map(async ({ tenant, acknowledged, reads, loaded: loadedNames }, i): Promise<TenantRun> =>
    ({ tenant, acknowledged, reads, loaded: loadedNames, entries: await history(url, tenants[i]?.key ?? ''), streamed: streams[i]?.streamed() ?? null })));
  return { tenants: runs, failures: loads.flatMap(({ failures }) => failures), faults, beganAt, tookMs };
}

/** A tenant with all that is asked about. */
async function furnished(replica: Replica, tenantId: string): Promise<FleetTenant> {
  const tenant = await FleetTenant.create(replica, tenantId);
  const done = [await tenant.send(replica, 'POST', '/v1/tools/sync', SYNC), await tenant.send(replica, 'POST', '/v1/tools/sync', smallSync('at first', SMALL_NAMES))];
  for (const agentId of AGENTS) done.push(await tenant.send(replica, 'PUT', `/v1/agents/${agentId}`, documentOf(agentId, [], [])));
  const failed = done.find(({ status }) => status >= 300);
  if (failed !== undefined) throw new Error(`the tenant can not be furnished: ${JSON.stringify(failed.body)}`);
  return tenant;
}

const warmUp = async (tenants: readonly FleetTenant[], replica: Replica): Promise<void> => {
  for (const tenant of tenants) await tenant.warmUp(replica, AGENTS[0]);
};

/** The newest entries first, whole; all of them unless told how many. */
async function history(url: string, key: string, limit = Infinity): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let cursor: string | null = ''; cursor !== null && entries.length < limit;) {
    const { status, body } = await ask(url, key, 'GET', `/v1/history?limit=${Math.min(500, limit)}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
    if (status !== 200) throw new Error(`no history: ${JSON.stringify(body)}`);
    for (const entry of body.items) entries.push(entry.abridged ? (await ask(url, key, 'GET', `/v1/history/${entry.revision}`)).body : entry);
    cursor = body.nextCursor;
  }
  return entries;
}
