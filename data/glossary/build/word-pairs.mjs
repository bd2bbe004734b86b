// Which word stands for which, learned from sentence pairs: IBM model 1 both ways, and the geometric mean of the two.

const ROUNDS = 8;
/** Pairs seen less often, or less sure, are chance. */
const LEAST = { together: 2, sure: 0.08 };
const MOST_SENSES = 6;
const NOBODY = '';

/** `Map(right word -> [[left word, 0..1]])` out of `[[left words], [right words]]`. */
export function learnPairs(sentences) {
  const rightOfLeft = translationTable(sentences);
  const leftOfRight = translationTable(sentences.map(([left, right]) => [right, left]));
  const together = new Map();
  for (const [left, right] of sentences) for (const r of right) for (const l of left) add(together, r, l, 1);
  const learned = new Map();
  for (const [right, row] of leftOfRight) {
    if (right === NOBODY) continue;
    const sure = Array.from(row, ([left, p]) => [left, Math.sqrt(p * (rightOfLeft.get(left)?.get(right) ?? 0))])
      .filter(([left, p]) => p >= LEAST.sure && (together.get(right)?.get(left) ?? 0) >= LEAST.together)
      .sort((a, b) => b[1] - a[1]).slice(0, MOST_SENSES);
    if (sure.length > 0) learned.set(right, sure);
  }
  return learned;
}

/** `Map(source -> Map(target -> probability))`. */
function translationTable(sentences) {
  let table = null;
  for (let round = 0; round < ROUNDS; round += 1) {
    const counts = new Map();
    for (const [sources, targets] of sentences) {
      const from = [...sources, NOBODY];
      for (const target of targets) {
        const weights = from.map((source) => (table === null ? 1 : table.get(source)?.get(target) ?? 0));
        const sum = weights.reduce((a, b) => a + b, 0);
        from.forEach((source, i) => add(counts, source, target, weights[i] / sum));
      }
    }
    // Half a sentence is taken off what each word can claim, so that a word seen once is not sure of anything.
    for (const row of counts.values()) {
      const all = [...row.values()].reduce((a, b) => a + b, 0) + 0.5;
      for (const [target, count] of row) row.set(target, count / all);
    }
    table = counts;
  }
  return table;
}

function add(table, row, column, amount) {
  let cells = table.get(row);
  if (cells === undefined) table.set(row, (cells = new Map()));
  cells.set(column, (cells.get(column) ?? 0) + amount);
}
