import v8 from 'node:v8';
import vm from 'node:vm';

/** The work took longer than it may. */
export class TookTooLong extends Error {}

const sandbox = vm.createContext({ work: undefined as (() => unknown) | undefined });
const script = new vm.Script('work()');

/** Starts of the same work on a machine that has no time for it. */
const STARTS = 5;

/** Tells the milliseconds that were spent on work since: a clock on the wall alone also counts what the machine did for others, and one of this process what its other threads did. */
export function stopwatch(): () => number {
  const [wall, own] = [performance.now(), cpuMs()];
  return () => Math.min(performance.now() - wall, cpuMs() - own);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * How patterns are made ready from now on. What optimises one looks ahead along every way that a match may go, which takes seconds for
 * a few dozen optional letters in a row, and is the one thing that no timeout stops: a pattern of somebody else's making goes without.
 */
const optimisePatterns = (on: boolean): void => v8.setFlagsFromString(on ? '--regexp-optimization' : '--no-regexp-optimization');

/**
 * Runs synchronous work and stops it after `milliseconds`, wherever it is: also inside a backtracking pattern or
 * an endless recursion of someone else's making. Costs some 50 µs, so only work that may run away goes through it.
 * The watchdog goes by the clock on the wall; work that was stopped before it had half its time is started again, so a busy
 * machine does not refuse what a quiet one allows. The context is no sandbox: `work` runs with this module's own rights.
 */
export function bounded<T>(milliseconds: number, work: () => T): T {
  sandbox['work'] = work;
  optimisePatterns(false);
  try {
    for (let left = STARTS - 1; ; left -= 1) {
      const spent = stopwatch();
      try {
        return script.runInContext(sandbox, { timeout: milliseconds }) as T;
      } catch (error) {
        if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
        if (left === 0 || spent() >= milliseconds / 2) throw new TookTooLong(`stopped after ${milliseconds} ms`);
      }
    }
  } finally {
    optimisePatterns(true);
    sandbox['work'] = undefined;
  }
}
