/** What all replicas have counted in the window that runs. */
export interface RateCount {
  readonly count: number;
  readonly endsInMs: number;
}

/** Where replicas add up what each of them counts. */
export abstract class RateStore {
  /** Whether there is one at all. */
  abstract readonly isThere: boolean;
  /** Throws where nothing can be counted now. A window begins with the first that is counted in it. */
  abstract add(name: string, requests: number): Promise<RateCount>;
}

export class NoRateStore extends RateStore {
  override readonly isThere = false;

  override add(): Promise<RateCount> {
    return Promise.reject(new Error('nothing is shared'));
  }
}
