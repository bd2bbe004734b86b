import { describe, expect, it } from '@jest/globals';
import { heldReadings as setUp } from '../../../test/support/held-readings.js';

describe('a slow look', () => {
  it('is waited for a second by who has something to answer from, and told as what it is', async () => {
    const { state, readings, hold, letGo } = setUp();
    await readings.current('k');
    hold();
    state.now += 200;
    const first = readings.current('k');
    state.now += 1_000;
    const second = readings.current('k');
    expect([await second, await first]).toEqual([{ value: { text: 'old' }, staleForMs: 1_200 }, { value: { text: 'old' }, staleForMs: 1_200 }]);
    letGo();
  });

  it('does not bring back what was forgotten meanwhile', async () => {
    const { database, state, readings, hold, letGo, settle } = setUp();
    await readings.current('k');
    hold();
    state.now += 200;
    const waiting = readings.current('k');
    database.delete('k');
    readings.forget((key) => key === 'k');
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    letGo();
    await settle();
    expect(await waiting).toEqual({ value: null, staleForMs: 0 });
  });

  it('is begun ahead of its time where readings are told to, and nobody waits', async () => {
    const { database, state, readings, settle } = setUp({ readsAhead: true });
    await readings.current('k');
    database.set('k', { text: 'new' });
    state.now += 99;
    expect([readings.hot('k'), state.looks]).toEqual([{ text: 'old' }, 1]);
    state.now += 1;
    expect([readings.hot('k'), readings.hot('k'), state.looks]).toEqual([{ text: 'old' }, { text: 'old' }, 2]);
    await settle();
    state.now += 150;
    expect(readings.hot('k')).toEqual({ text: 'new' });
  });
});

describe('one that is larger than all that may be kept', () => {
  it('is kept alone', async () => {
    const { database, readings } = setUp();
    database.set('large', { text: 'large', size: 11 });
    await readings.current('k');
    await readings.current('large');
    expect([readings.hot('large'), readings.hot('k')]).toEqual([{ text: 'large', size: 11 }, undefined]);
  });
});

describe('after a write of this process', () => {
  it('nobody is answered from before it to save time', async () => {
    const { database, state, readings, hold, letGo } = setUp();
    await readings.current('k');
    database.set('k', { text: 'new' });
    readings.noteWrite('k');
    hold();
    const waiting = readings.current('k');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    state.now += 1_200;
    letGo();
    expect(await waiting).toEqual({ value: { text: 'new' }, staleForMs: 0 });
  });
});

describe('what is older than the bound', () => {
  it('is no base of the next reading, which has the time of a first one', async () => {
    const bases: unknown[] = [];
    const { state, readings } = setUp({ load: async (_key, before) => (bases.push(before?.text ?? null), { text: 'read' }) });
    await readings.current('k');
    state.now += 1_000;
    await readings.current('k');
    state.now += 30_001;
    await readings.current('k');
    expect(bases).toEqual([null, 'read', null]);
  });
});
