import { constants } from 'node:os';

/**
 * What a signal does: nothing runs that would have to be finished, until a command says otherwise. Heard before anything else is
 * loaded, for process 1 of a container, which has no handler, does not end at all.
 */
let end = (signal: NodeJS.Signals): void => process.exit(128 + constants.signals[signal]);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(signal));

const { run } = await import('./commands.js');
await run(process.argv.slice(2), (atSignal) => {
  end = atSignal;
});
