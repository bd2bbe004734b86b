// Loaded ahead of a replica (NODE_OPTIONS=--import=...): on SIGUSR2 its wall clock jumps an hour ahead, at the next an hour back, then to the truth.
const HOUR_MS = 3_600_000;
const JUMPS = [HOUR_MS, -HOUR_MS, 0];
const TrueDate = Date;
let offset = 0;
let jumps = 0;

const now = () => TrueDate.now() + offset;

globalThis.Date = class Date extends TrueDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given));
  }

  static now = now;
};

process.on('SIGUSR2', () => {
  offset = JUMPS[jumps % JUMPS.length];
  jumps += 1;
  console.log(`the clock jumped: ${offset}`);
});
