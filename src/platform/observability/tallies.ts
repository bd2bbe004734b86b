import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';

/** One series of a counter. */
export interface Tally {
  inc(): void;
}

class Count implements Tally {
  count = 0;

  inc(): void {
    this.count += 1;
  }
}

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registers: readonly Registry[];
}

/** A series for each list of label values, found by one look-up: the client library hashes all labels at every step, which the hot path feels. */
class SeriesOf<T> {
  private readonly series = new Map<string, { readonly labels: Readonly<Record<string, string>>; readonly value: T }>();

  constructor(
    private readonly labelNames: readonly string[],
    private readonly create: () => T,
  ) {}

  of(...values: readonly string[]): T {
    const key = values.length === 1 ? String(values[0]) : values.join('\n');
    const known = this.series.get(key);
    if (known !== undefined) return known.value;
    const value = this.create();
    this.series.set(key, { labels: Object.fromEntries(this.labelNames.map((name, i) => [name, values[i] ?? ''])), value });
    return value;
  }

  all(): Iterable<{ readonly labels: Readonly<Record<string, string>>; readonly value: T }> {
    return this.series.values();
  }
}

/** A counter that counts in variables and tells the registry when it is scraped. */
export class Tallies {
  private readonly counts: SeriesOf<Count>;

  constructor({ registers, labelNames, ...described }: Described) {
    const counts = new SeriesOf(labelNames, () => new Count());
    this.counts = counts;
    new Counter({
      ...described,
      labelNames: [...labelNames],
      registers: [...registers],
      collect() {
        for (const { labels, value } of counts.all()) {
          this.inc(labels, value.count);
          value.count = 0;
        }
      },
    });
  }

  /** In the order of the label names. */
  of(...values: readonly string[]): Tally {
    return this.counts.of(...values);
  }
}

class Spread {
  /** One more than there are buckets: what is larger than all. Not added up. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(private readonly buckets: readonly number[]) {
    this.counts = new Float64Array(buckets.length + 1);
  }

  observe(seconds: number): void {
    let at = 0;
    while (seconds > (this.buckets[at] ?? Infinity)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += seconds;
  }
}

/** A histogram of times in seconds that counts in variables. */
export class Durations {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  private readonly spreads: SeriesOf<Spread>;

  constructor(
    { name, help, labelNames, registers }: Described,
    private readonly buckets: readonly number[],
  ) {
    this.name = name;
    this.help = help;
    this.spreads = new SeriesOf(labelNames, () => new Spread(buckets));
    // The registry asks a metric for its name and its values, and for nothing else.
    for (const registry of registers) registry.registerMetric(this as unknown as Counter);
  }

  /** In the order of the label names. */
  of(...values: readonly string[]): { observe(seconds: number): void } {
    return this.spreads.of(...values);
  }

  /** What the registry writes. */
  async get(): Promise<unknown> {
    const values = [...this.spreads.all()].flatMap(({ labels, value: { counts, sum } }) => {
      let below = 0;
      const buckets = [...this.buckets, '+Inf'].map((le, at) => {
        below += counts[at] ?? 0;
        return { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: below };
      });
      return [...buckets, { metricName: `${this.name}_sum`, labels, value: sum }, { metricName: `${this.name}_count`, labels, value: below }];
    });
    return { name: this.name, help: this.help, type: this.type, values, aggregator: 'sum' };
  }
}
