import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { CatalogTool } from '../core/catalog.js';
import type { Impact } from '../core/impact.js';
import { ImpactCounts, askedOf, impactOn } from '../core/impact.js';
import { byText } from '../core/json.js';
import type { PolicyView } from '../core/policy-view.js';
import type { ContextInput, DecideContext } from '../core/request.js';
import { readContext } from '../core/request.js';
import { Engines } from '../engines/engines.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import type { ReadBody } from './body-reader.js';
import { bodyReader } from './body-reader.js';
import { contextsSchema } from './request.schema.js';
import { parentOf } from './subjects.js';

/** Work between two turns of other requests. */
const TURN_MS = 10;

/** Both sides of a save, and what of it can fare otherwise. */
export interface Sides {
  readonly now: PolicyView;
  readonly then: PolicyView;
  readonly movable: (context: DecideContext) => readonly CatalogTool[];
}

/** What a save would do to all agents of a tenant, a piece at a time: other requests get their turn in between. */
@Injectable()
export class Impacts {
  private readonly readBody: ReadBody<{ readonly contexts?: readonly (ContextInput | null)[] | null }>;

  constructor(
    private readonly engines: Engines,
    @Inject(LIMITS) limits: Limits,
  ) {
    this.readBody = bodyReader({ type: 'object', properties: { contexts: contextsSchema(limits) } });
  }

  /** The contexts of a request, checked as that of decide is; one plain context where there are none. */
  contextsIn(contexts: unknown): readonly DecideContext[] {
    return (this.readBody({ contexts: contexts ?? null }).contexts ?? [null]).map(readContext);
  }

  /** A parent that does not exist is `UNKNOWN_PARENT`. */
  async of({ now, then, movable }: Sides, contexts: readonly DecideContext[]): Promise<Impact> {
    const asked = contexts.map((context) => askedOf({ now, then, tools: movable(context), context, parent: parentOf(now, context), evaluate: this.engines.evaluateCondition }));
    const counts = new ImpactCounts();
    let turn = performance.now();
    for (const agent of [...now.agents.values()].sort((a, b) => byText(a.agentId, b.agentId))) {
      counts.add(impactOn(agent, asked));
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
    return counts.result(now);
  }
}
