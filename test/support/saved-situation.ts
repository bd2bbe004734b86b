import { expect } from '@jest/globals';
import type { Situation } from '../property/arbitraries.js';
import type { Step } from './case-file.js';
import { CoreWorld } from './core-world.js';

type Json = Record<string, unknown>;
export type DoStep = (action: Step['action'], input: Json) => Promise<Json>;

/** A service with the situation saved in it, by its own writes. */
export async function serviceWith({ records, document: own, parent, settings: { intentDelegates: _, ...settings } }: Situation): Promise<DoStep> {
  const world = await CoreWorld.open();
  const act: DoStep = async (action, input) => world.do({ action, input, want: {} } as Step);
  const { rejected } = await act('sync', { raw: true, categories: ['one', 'two'].map((key) => ({ key, label: key, whenToUse: key })), tools: records.map(({ declaration }) => declaration) });
  expect(rejected).toEqual([]);
  for (const { name, governance } of records) await act('governance', { name, ...governance });
  await act('settings', settings);
  for (const [agentId, saved] of [['agent', own], ['parent', parent], ['other', own], ['child', own]] as const) await act('put', { agentId, ...saved });
  return act;
}
