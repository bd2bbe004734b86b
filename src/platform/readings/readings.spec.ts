import { describe, expect, it } from '@jest/globals';
import type { Thing } from '../../../test/support/held-readings.js';
import { heldReadings as setUp } from '../../../test/support/held-readings.js';

describe('INVARIANT (freshness)', () => {
  it('a value is read once and answered from until it is as old as may be', async () => {
    const { database, state, readings } = setUp();
    expect(readings.hot('k')).toBeUndefined();
    expect(await readings.current('k')).toEqual({ value: { text: 'old' }, staleForMs: 0 });
    database.set('k', { text: 'new' });
    state.now += 199;
    expect(readings.hot('k')).toEqual({ text: 'old' });
    expect(state.looks).toBe(1);
    state.now += 1;
    expect(readings.hot('k')).toBeUndefined();
    expect(await readings.current('k')).toEqual({ value: { text: 'new' }, staleForMs: 0 });
  });

  it('that there is nothing is as good an answer as any other', async () => {
    const { database, state, readings } = setUp();
    expect(await readings.current('none')).toEqual({ value: null, staleForMs: 0 });
    expect(readings.hot('none')).toBeNull();
    database.set('none', { text: 'there' });
    state.now += 200;
    expect(readings.hot('none')).toBeUndefined();
    expect((await readings.current('none')).value).toEqual({ text: 'there' });
  });

  it('where anybody may ask, that there is nothing puts out nothing that there is', async () => {
    const { state, readings } = setUp({ keepsAbsent: false });
    await readings.current('k');
    for (let i = 0; i < 50; i += 1) expect((await readings.current(`none${i}`)).value).toBeNull();
    expect([readings.hot('k'), readings.hot('none49')]).toEqual([{ text: 'old' }, undefined]);
    expect(state.looks).toBe(51);
  });

  it('the next reading is handed what was read before', async () => {
    const seen: (Thing | null)[] = [];
    const { state, readings } = setUp({ load: async (_key, before) => (seen.push(before), { text: `${seen.length}` }) });
    await readings.current('k');
    state.now += 200;
    await readings.current('k');
    readings.noteWrite('k');
    await readings.current('k');
    expect(seen).toEqual([null, { text: '1' }, { text: '2' }]);
  });

  it('a write of this process ends what was read before, and what a look under way will find', async () => {
    const { database, readings, hold, letGo } = setUp();
    await readings.current('k');
    readings.noteWrite('k');
    expect(readings.hot('k')).toBeUndefined();
    hold();
    const overtaken = readings.current('k');
    database.set('k', { text: 'new' });
    readings.noteWrite('k');
    const after = readings.current('k');
    letGo();
    expect([(await overtaken).value, (await after).value]).toEqual([{ text: 'old' }, { text: 'new' }]);
  });

  it('a look that a write overtook is not fresh, also when its value had been put out meanwhile', async () => {
    const { database, state, readings, hold, letGo } = setUp();
    await readings.current('k');
    state.now += 200;
    hold();
    const overtaken = readings.current('k');
    database.set('large', { text: 'large', size: 10 });
    const other = readings.current('large');
    readings.noteWrite('k');
    letGo();
    await Promise.all([other, overtaken]);
    expect(readings.hot('k')).toBeUndefined();
  });
});

describe('one look at a time', () => {
  it('is shared by all who wait, and by those who come meanwhile the next one', async () => {
    const { database, state, readings, hold, letGo } = setUp();
    hold();
    const first = readings.current('k');
    database.set('k', { text: 'new' });
    const later = Array.from({ length: 20 }, () => readings.fresh('k'));
    letGo();
    expect((await first).value).toEqual({ text: 'old' });
    expect(new Set(await Promise.all(later))).toEqual(new Set([{ text: 'new' }]));
    expect([state.looks, state.mostAtOnce]).toEqual([2, 1]);
  });

  it('is one for each key', async () => {
    const { database, state, readings, hold, letGo } = setUp();
    database.set('l', { text: 'other' });
    hold();
    const both = Promise.all([readings.current('k'), readings.current('l')]);
    letGo();
    expect((await both).map(({ value }) => value?.text)).toEqual(['old', 'other']);
    expect(state.mostAtOnce).toBe(2);
  });

  it('that fails leaves those who came meanwhile their own', async () => {
    const { state, readings, hold, letGo } = setUp();
    state.isBroken = true;
    hold();
    const first = readings.fresh('k');
    state.isBroken = false;
    const second = readings.fresh('k');
    letGo();
    await expect(first).rejects.toThrow('ECONNREFUSED');
    expect(await second).toEqual({ text: 'old' });
  });
});

describe('while looks are failing', () => {
  it('the last value is served, told as stale, without a wait, up to the bound and no longer', async () => {
    const { state, readings, settle } = setUp();
    await readings.current('k');
    state.isBroken = true;
    state.now += 1_000;
    expect(await readings.current('k')).toEqual({ value: { text: 'old' }, staleForMs: 1_000 });
    state.now += 100;
    expect(await readings.current('k')).toEqual({ value: { text: 'old' }, staleForMs: 1_100 });
    expect(state.looks).toBe(2);
    for (; state.now < 31_000; state.now += 500) {
      expect((await readings.current('k')).staleForMs).toBe(state.now - 1_000);
      await settle();
    }
    state.now += 1;
    await expect(readings.current('k')).rejects.toMatchObject({ code: 'TOO_STALE' });
    await expect(readings.current('k')).rejects.toMatchObject({ code: 'TOO_STALE' });
    state.isBroken = false;
    expect((await readings.current('k')).staleForMs).toBe(0);
  });

  it('a look in the background finds out when the database is back', async () => {
    const { database, state, readings, hold, letGo, settle } = setUp();
    await readings.current('k');
    state.isBroken = true;
    state.now += 200;
    await readings.current('k');
    state.isBroken = false;
    database.set('k', { text: 'new' });
    state.now += 500;
    hold();
    for (let i = 0; i < 5; i += 1) expect((await readings.current('k')).value).toEqual({ text: 'old' });
    expect(state.looks).toBe(3);
    letGo();
    await settle();
    expect(await readings.current('k')).toEqual({ value: { text: 'new' }, staleForMs: 0 });
  });

  it('nothing is made up: what was never read fails', async () => {
    const { state, readings } = setUp();
    state.isBroken = true;
    await expect(readings.current('k')).rejects.toThrow('ECONNREFUSED');
    state.isBroken = false;
    expect((await readings.current('k')).staleForMs).toBe(0);
  });

  it('a failure is that of its key alone', async () => {
    const { database, state, readings } = setUp();
    database.set('l', { text: 'other' });
    await Promise.all([readings.current('k'), readings.current('l')]);
    state.now += 200;
    state.isBroken = true;
    expect((await readings.current('k')).staleForMs).toBe(200);
    state.isBroken = false;
    expect((await readings.current('l')).staleForMs).toBe(0);
  });

  it('a failure that is old news is none, for the first who asks and for all who ask while that one waits', async () => {
    const { database, state, readings, hold, letGo } = setUp();
    await readings.current('k');
    state.isBroken = true;
    state.now += 200;
    await readings.current('k');
    state.isBroken = false;
    database.set('k', { text: 'new' });
    state.now += 60_000;
    hold();
    const all = Array.from({ length: 10 }, () => readings.current('k'));
    letGo();
    expect(await Promise.all(all)).toEqual(Array(10).fill({ value: { text: 'new' }, staleForMs: 0 }));
  });

  it('a write that got through shows that the database is there', async () => {
    const { database, state, readings } = setUp();
    await readings.current('k');
    state.isBroken = true;
    state.now += 200;
    await readings.current('k');
    state.isBroken = false;
    database.set('k', { text: 'new' });
    readings.noteWrite('k');
    expect(await readings.current('k')).toEqual({ value: { text: 'new' }, staleForMs: 0 });
  });
});

describe('what is forgotten', () => {
  it('is not served again, not even while looks are failing', async () => {
    const { state, readings } = setUp();
    await readings.current('k');
    readings.forget((key) => key === 'k');
    expect(readings.hot('k')).toBeUndefined();
    state.isBroken = true;
    await expect(readings.current('k')).rejects.toThrow('ECONNREFUSED');
  });

  it('is not brought back by a look that had begun before', async () => {
    const { database, state, readings, hold, letGo } = setUp();
    hold();
    const before = readings.current('k');
    database.delete('k');
    readings.forget((key) => key === 'k');
    const after = readings.current('k');
    letGo();
    expect([(await before).value, (await after).value, readings.hot('k')]).toEqual([{ text: 'old' }, null, null]);
    expect(state.looks).toBe(2);
  });

  it('leaves the rest', async () => {
    const { database, readings } = setUp();
    database.set('l', { text: 'other' });
    await Promise.all([readings.current('k'), readings.current('l')]);
    readings.forget((key) => key === 'k');
    expect([readings.hot('k'), readings.hot('l')]).toEqual([undefined, { text: 'other' }]);
  });
});

describe('what is kept', () => {
  it('is bounded, and what was asked for last stays', async () => {
    const { database, readings } = setUp();
    for (const key of ['a', 'b', 'c']) {
      database.set(key, { text: key, size: 4 });
      await readings.current(key);
    }
    expect(['a', 'b', 'c'].map((key) => readings.hot(key)?.text)).toEqual([undefined, 'b', 'c']);
  });
});
