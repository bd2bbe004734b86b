import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { parseConfig } from '../../src/platform/config/config.js';

const CHART = 'helm/toolcrib';
const values = await readFile(`${CHART}/values.yaml`, 'utf8');
const template = await readFile(`${CHART}/templates/deployment.yaml`, 'utf8');

/** The settings that `config` shows with the service's own default behind `#`. */
const shown = new Map([...(/^config:\n((?: {2}.*\n)*)/mu.exec(values)?.[1] ?? '').matchAll(/^ {2}# ([A-Z_]+): (.*)$/gmu)].map(([, name = '', value = '']) => [name, String(parse(value) ?? '')]));
/** Those that are in it, and those that the chart sets by itself. */
const set = new Set([...Object.keys(parse(values).config), ...[...template.matchAll(/- name: ([A-Z_]+)$/gmu)].map(([, name = '']) => name)]);

/** Every name that the service reads, as it is seen reading. */
function namesRead(): string[] {
  const names = new Set<string>();
  parseConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }));
  return [...names];
}

describe('the chart', () => {
  it('names every setting that the service reads, and no other', () => {
    // It is for the embedded database, which replicas can not share.
    const needed = namesRead().filter((name) => name !== 'TOOLCRIB_DATA_DIR');
    expect(needed.length).toBeGreaterThan(15);
    expect([...shown.keys(), ...set].sort()).toEqual(needed.sort());
  });

  it('shows the defaults that the service has', () => {
    expect(parseConfig(Object.fromEntries(shown))).toEqual(parseConfig({}));
  });

  it('tells of each value in its README', async () => {
    const [, , table = ''] = /\n## Values\n(.*?)\n\| value(.*?)\n\n/su.exec(await readFile(`${CHART}/README.md`, 'utf8')) ?? [];
    expect(Object.keys(parse(values)).filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
  });

  it('gives a pod the time in which the service ends, and the pause before', async () => {
    const [, shutdown = ''] = /const SHUTDOWN_MS = ([\d_]+);/u.exec(await readFile('src/commands.ts', 'utf8')) ?? [];
    expect(template).toContain(`terminationGracePeriodSeconds: {{ add .Values.preStopSeconds ${Number(shutdown.replaceAll('_', '')) / 1_000} 5 }}`);
  });

  it('is of the version of the service', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(parse(await readFile(`${CHART}/Chart.yaml`, 'utf8'))).toMatchObject({ version, appVersion: version });
  });
});
