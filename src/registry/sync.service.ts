import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { isObject } from '../core/json.js';
import type { SyncPlan, SyncRequest, SyncRules } from '../core/sync-plan.js';
import { changesSomething, judgeCondition, judgeSchema, planSync } from '../core/sync-plan.js';
import { Engines } from '../engines/engines.js';
import type { Committed, GovernanceUnit } from '../governance/governance.store.js';
import { GovernanceStore } from '../governance/governance.store.js';
import type { Author } from '../platform/author.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { AppError } from '../platform/errors/app-error.js';

/** Entries judged before other requests get their turn. */
const ENTRIES_A_TURN = 20;

@Injectable()
export class SyncService {
  constructor(
    private readonly governance: GovernanceStore,
    private readonly engines: Engines,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  /** One transaction, whatever the size. A dry run writes nothing. */
  async sync(by: Author, request: SyncRequest, dryRun: boolean): Promise<Committed<SyncPlan>> {
    if (request.tools.length > this.limits.tools) throw new AppError('LIMIT_EXCEEDED', `\`tools\` has more than ${this.limits.tools} entries`);
    await this.judgeAhead(request.tools);
    return this.governance.write(by, async (unit) => {
      const plan = await this.plan(unit, request);
      if (dryRun) return plan;
      if (plan.needsConfirmation) throw new AppError('CONFIRM_REMOVALS', `${plan.missing.length} tools of \`${request.source}\` would become unavailable: send \`confirmRemovals\` if that is meant`);
      if (changesSomething(plan)) await unit.saveSync(request.source, plan);
      return plan;
    });
  }

  private async plan(unit: GovernanceUnit, request: SyncRequest): Promise<SyncPlan> {
    const { tools, categories } = await unit.catalog();
    const state = { tools: new Map(tools.map((tool) => [tool.name, tool])), categories, intentDelegates: unit.settings().settings.intentDelegates };
    const plan = planSync(request, state, this.rules);
    const total = state.tools.size + plan.added.length;
    if (total > this.limits.tools) throw new AppError('LIMIT_EXCEEDED', `the tenant would have ${total} tools, and ${this.limits.tools} are the limit: delete unavailable ones`);
    return plan;
  }

  private get rules(): SyncRules {
    return { checkSchema: this.engines.checkSchema, checkCondition: this.engines.checkCondition, limits: this.limits };
  }

  /**
   * Judging schemas and conditions is the longest part of a sync, and other requests get their turn in between. The engines
   * remember their verdicts, so the plan finds them made.
   */
  private async judgeAhead(entries: readonly unknown[]): Promise<void> {
    for (const [i, entry] of entries.entries()) {
      if (i % ENTRIES_A_TURN === 0) await nextTurn();
      if (!isObject(entry)) continue;
      const { inputSchema, outputSchema, active, intent } = entry;
      for (const schema of [inputSchema, outputSchema]) if (isObject(schema)) judgeSchema(schema, this.rules);
      for (const condition of [active, isObject(intent) ? intent['when'] : null]) if (typeof condition === 'string') judgeCondition(condition, this.rules);
    }
  }
}
