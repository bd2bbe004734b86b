import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { openStream, until } from '../support/event-client.js';
import type { Fleet, Replica, Servers } from '../support/fleet.js';
import { FleetTenant, becomes, describeWithServers, fleetOn, privateServers } from '../support/fleet.js';
import { ask } from '../support/process.js';
import { readPromql } from '../support/promql.js';

interface Query {
  readonly where: string;
  readonly expr: string;
  /** What is written of the labels of its result. */
  readonly words: string;
}

const { groups } = parse(await readFile('helm/toolcrib/rules/toolcrib.rules.yaml', 'utf8'));
const alerts: any[] = groups.flatMap(({ rules }: any) => rules);
const dashboard = JSON.parse(await readFile('helm/toolcrib/dashboards/toolcrib.json', 'utf8'));

const queries: readonly Query[] = [
  ...alerts.map(({ alert, expr, annotations }) => ({ where: alert, expr, words: Object.values(annotations).join(' ').replaceAll('$labels.', '') })),
  ...dashboard.panels.flatMap(({ title, targets = [] }: any) => targets.map(({ expr, legendFormat }: any) => ({ where: `panel ${title}`, expr, words: legendFormat }))),
  ...dashboard.annotations.list.map(({ name, expr, textFormat }: any) => ({ where: `annotation ${name}`, expr, words: textFormat })),
  ...dashboard.templating.list.flatMap(({ name, query: { query } }: any) => {
    const [, expr, label] = /^label_values\((.*), (\w+)\)$/u.exec(query ?? '') ?? [];
    return expr === undefined ? [] : [{ where: `variable ${name}`, expr, words: `{{${label}}}` }];
  }),
];

/** Those that whoever scrapes adds. */
const OF_THE_TARGET = ['job', 'instance', 'namespace'];

interface Exposed {
  /** The labels of each name, as they stand in the lines. */
  readonly labels: Map<string, Set<string>>;
  /** The values of each label of each name. */
  readonly values: Map<string, Set<string>>;
  readonly help: Map<string, string>;
}

function readExposition(texts: readonly string[]): Exposed {
  const exposed: Exposed = { labels: new Map(), values: new Map(), help: new Map() };
  const add = (sets: Map<string, Set<string>>, key: string, values: readonly string[]): void => void sets.set(key, new Set([...(sets.get(key) ?? []), ...values]));
  for (const line of texts.join('\n').split('\n')) {
    const [, described, help = ''] = /^# HELP (\w+) (.*)$/u.exec(line) ?? [];
    if (described !== undefined) exposed.help.set(described, help);
    const [, name, list = ''] = /^(\w+)(?:\{(.*)\})? \S+$/u.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/gu)];
    add(exposed.labels, name, pairs.map(([, label = '']) => label));
    for (const [, label = '', value = ''] of pairs) add(exposed.values, `${name} ${label}`, [value]);
  }
  return exposed;
}

describeWithServers('the dashboard and the alerts', () => {
  let servers: Servers;
  let fleet: Fleet;
  let exposed: Exposed;

  const isUp = async ({ url }: Replica): Promise<unknown> => /^toolcrib_database_up (\d)$/mu.exec((await ask(url, null, 'GET', '/metrics')).body)?.[1];

  /** Something of everything: hits, misses, news of another replica, a watcher that leaves, and a database that goes away. */
  const live = async (here: Replica, there: Replica): Promise<void> => {
    const tenant = await FleetTenant.create(here, 'acme');
    await tenant.send(here, 'POST', '/v1/tools/sync', { source: 's', tools: [{ name: 'a', description: 'd', isCore: true }] });
    await tenant.send(here, 'PUT', '/v1/agents/m', {});
    const watcher = await openStream(there.url, tenant.key);
    for (const replica of [here, there]) {
      await tenant.warmUp(replica);
      for (let asking = 0; asking < 3; asking += 1) await tenant.decide(replica);
      expect((await tenant.send(replica, 'POST', '/v1/check', { agentId: 'm', toolName: 'a', arguments: {} })).body.allowed).toBe(true);
    }
    await tenant.switch(here, 'a', false);
    await until(() => watcher.events.length > 0, 'the switch is told');
    watcher.close();
    expect(await isUp(there)).toBe('1');
    servers.postgres.pause();
    const isStale = async (): Promise<boolean> => (await tenant.decide(there)).body.freshness === 'stale';
    const isRefused = async (): Promise<boolean> => (await tenant.send(there, 'PUT', '/v1/agents/n', {})).status === 503;
    expect([await becomes(isStale, 20_000), await becomes(isRefused, 20_000)]).toEqual([true, true]);
    // Nobody has asked for readiness meanwhile: the scrape itself looks.
    expect(await isUp(there)).toBe('0');
    servers.postgres.resume();
  };

  beforeAll(async () => {
    servers = await privateServers();
    fleet = fleetOn(servers);
    const [here, there] = await Promise.all([fleet.add(), fleet.add()]);
    await live(here, there);
    exposed = readExposition(await Promise.all([here, there].map(async ({ url }) => (await ask(url, null, 'GET', '/metrics')).body)));
  });
  afterAll(async () => {
    await fleet.stop();
    await servers.stop();
  });

  it.each(queries)('$where asks for metrics, labels and values that there are', ({ expr, words }) => {
    const { selectors, groupingLabels } = readPromql(expr);
    const known = new Set([...OF_THE_TARGET, ...selectors.flatMap(({ metric }) => [...(exposed.labels.get(metric) ?? [])])]);
    const told = [...words.matchAll(/\{\{ ?(\w+) ?\}\}/gu)].flatMap(([, label = '']) => label);
    expect([...groupingLabels, ...told].filter((label) => !known.has(label))).toEqual([]);
    expect(selectors.map(({ metric }) => metric).filter((metric) => !exposed.labels.has(metric))).toEqual([]);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, matchers } of selectors) {
      const labels = [...OF_THE_TARGET, ...(exposed.labels.get(metric) ?? [])];
      expect(matchers.filter(({ label }) => !labels.includes(label)).map(({ label }) => `${metric} ${label}`)).toEqual([]);
      for (const { label, op, value } of matchers.filter(({ op: how }) => how === '=' || how === '!=')) {
        // A value that nothing here brought about stands in the words of the metric.
        const family = exposed.help.get(metric.replace(/_(?:bucket|count|sum)$/u, '')) ?? exposed.help.get(metric) ?? '';
        expect({ metric, label, op, value, isThere: exposed.values.get(`${metric} ${label}`)?.has(value) === true || family.split(/\W+/u).includes(value) }).toMatchObject({ isThere: true });
      }
    }
  });
});

describe('the runbook', () => {
  const ANCHOR = /^docs\/operations\.md#([a-z]+)$/u;

  it('has an entry for each alert, in the order of the rules, that says what it means, where to look and what to do', async () => {
    const [, runbook = ''] = (await readFile('docs/operations.md', 'utf8')).split('\n## Runbook by symptom\n');
    const entries = runbook.split('\n## ')[0]?.split('\n### ').slice(1) ?? [];
    expect(entries.map((entry) => entry.split('\n')[0])).toEqual(alerts.map(({ alert }) => alert));
    expect(alerts.map(({ annotations }) => ANCHOR.exec(annotations.runbook_url)?.[1])).toEqual(alerts.map(({ alert }) => alert.toLowerCase()));
    const parts = ['**Seen**', '**Means**', '**Look**', '**Do**'];
    expect(entries.filter((entry) => parts.some((part) => !entry.includes(part)))).toEqual([]);
  });
});
