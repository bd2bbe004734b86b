import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { beyondLimit, normaliseDocument } from '../core/agent-document.js';
import type { Declaration, ToolRecord } from '../core/catalog.js';
import type { AgentChange, Change, SettingsChange, SyncChange, ToolChange, ToolState } from '../core/history.js';
import { agentOf, agentState, isWhole, overridesState, toolState } from '../core/history.js';
import type { Standing } from '../core/revert.js';
import { planSyncRevert, standing } from '../core/revert.js';
import { DEFAULT_SETTINGS } from '../core/settings.js';
import type { SyncRules } from '../core/sync-plan.js';
import { declarationFault } from '../core/sync-plan.js';
import { Engines } from '../engines/engines.js';
import type { GovernanceUnit } from '../governance/governance.store.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { AppError } from '../platform/errors/app-error.js';

/** Declarations judged before other requests get their turn. */
const JUDGED_A_TURN = 20;
const NAMED = 5;

const notRevertible = (detail: string): AppError => new AppError('NOT_REVERTIBLE', detail);

const some = (names: readonly string[]): string =>
  names.slice(0, NAMED).map((name) => `\`${name}\``).join(', ') + (names.length > NAMED ? ` and ${names.length - NAMED} more` : '');

/** Takes one write back through the same port as any write: what may not be written otherwise may not be put back either. */
@Injectable()
export class Reverter {
  constructor(
    private readonly engines: Engines,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  /** Judging is the longest part, and other requests get their turn in between; the engines remember their verdicts. */
  async judgeAhead({ entity, before }: Change): Promise<void> {
    if (entity !== 'sync') return;
    for (const [i, { declaration }] of before.tools.entries()) {
      if (i % JUDGED_A_TURN === 0) await nextTurn();
      declarationFault(declaration, this.rules, null);
    }
  }

  /** Inside a write. Writes nothing where nothing is left to take back. */
  undo(unit: GovernanceUnit, change: Change, force: boolean): Promise<void> {
    switch (change.entity) {
      case 'agent':
        return this.undoAgent(unit, change, force);
      case 'tool':
        return this.undoTool(unit, change, force);
      case 'sync':
        return this.undoSync(unit, change, force);
      case 'settings':
        return this.undoSettings(unit, change, force);
    }
  }

  private async undoAgent(unit: GovernanceUnit, { id, before, after }: AgentChange, force: boolean): Promise<void> {
    const now = await unit.findAgent(id);
    if (isDone(standing(now && agentState(now), { before, after }), id, force)) return;
    if (before === null) return unit.deleteAgent(id);
    if (now === null && (await unit.countAgents()) >= this.limits.agents) throw new AppError('LIMIT_EXCEEDED', `a tenant may have ${this.limits.agents} agents`);
    const agent = agentOf(before);
    const document = normaliseDocument(id, agent.document);
    const beyond = beyondLimit(document, this.limits);
    if (beyond !== null) throw new AppError('LIMIT_EXCEEDED', beyond);
    await unit.saveAgent({ ...agent, document });
  }

  private async undoTool(unit: GovernanceUnit, change: ToolChange, force: boolean): Promise<void> {
    const { id, before } = change;
    const now = await unit.findTool(id);
    if (isDone(standingOfTool(now, change), id, force)) return;
    if (before === null) return this.takeAway(unit, id, now);
    if (isWhole(before)) return this.putBack(unit, before, now);
    if (now === null) throw notRevertible(`there is no tool \`${id}\` any more`);
    await unit.saveGovernance(id, before.governance);
  }

  private async takeAway(unit: GovernanceUnit, id: string, now: ToolRecord | null): Promise<void> {
    if (now?.available === true) throw notRevertible(`\`${id}\` is declared by \`${now.source}\` again`);
    await unit.deleteTool(id);
  }

  private async putBack(unit: GovernanceUnit, { availability, ...tool }: ToolState, now: ToolRecord | null): Promise<void> {
    if (now?.available === true && availability !== 'available') throw notRevertible(`\`${tool.name}\` is declared by \`${now.source}\` again`);
    this.requireSound(unit, [tool.declaration]);
    if (now === null) await this.requireRoom(unit, 1);
    await unit.restoreTool({ ...tool, available: availability === 'available' });
  }

  private async undoSync(unit: GovernanceUnit, change: SyncChange, force: boolean): Promise<void> {
    const { tools, categories } = await unit.catalog();
    const there = new Map(tools.map((tool) => [tool.name, tool]));
    const plan = planSyncRevert(change, there, categories);
    if (plan.foreign.length > 0) throw notRevertible(`${some(plan.foreign)}: another source declares what \`${change.id}\` declared then`);
    requireUnchanged(plan.changed, force);
    if (plan.put.length === 0 && plan.remove.length === 0 && plan.categories === null) return;
    this.requireSound(unit, plan.put.map(({ declaration }) => declaration));
    await this.requireRoom(unit, plan.put.filter(({ name }) => !there.has(name)).length - plan.remove.length);
    await unit.restoreSync(change.id, plan);
  }

  private async undoSettings(unit: GovernanceUnit, { before, after }: SettingsChange, force: boolean): Promise<void> {
    const whole = { before: { ...DEFAULT_SETTINGS, ...before }, after: { ...DEFAULT_SETTINGS, ...after } };
    if (isDone(standing(unit.settings().settings, whole), 'settings', force)) return;
    await unit.saveSettings(whole.before);
  }

  private requireSound(unit: GovernanceUnit, declarations: readonly Declaration[]): void {
    const { intentDelegates } = unit.settings().settings;
    for (const declaration of declarations) {
      const fault = declarationFault(declaration, this.rules, intentDelegates);
      if (fault !== null) throw notRevertible(`\`${declaration.name}\` would be rejected today: ${fault.message}`);
    }
  }

  private async requireRoom(unit: GovernanceUnit, more: number): Promise<void> {
    if (more <= 0) return;
    const total = (await unit.catalog()).tools.length + more;
    if (total > this.limits.tools) throw new AppError('LIMIT_EXCEEDED', `the tenant would have ${total} tools, and ${this.limits.tools} are the limit: delete unavailable ones`);
  }

  private get rules(): SyncRules {
    return { checkSchema: this.engines.checkSchema, checkCondition: this.engines.checkCondition, limits: this.limits };
  }
}

/** Throws `NOT_REVERTIBLE` where the name means another source's tool now. */
function standingOfTool(now: ToolRecord | null, change: ToolChange): Standing {
  const told = change.before ?? change.after;
  if (now === null || told === null) return standing(now, change);
  if (now.source !== told.source) throw notRevertible(`\`${change.id}\` belongs to \`${now.source}\` now`);
  return standing(isWhole(told) ? toolState(now) : overridesState(now), change);
}

function requireUnchanged(changed: readonly string[], force: boolean): void {
  if (changed.length === 0 || force) return;
  throw new AppError('CHANGED_SINCE', `${some(changed)} changed since: look at what is there now, and send \`force\` to put the earlier state back all the same`);
}

/** Whether nothing is left to take back. */
function isDone(how: Standing, id: string, force: boolean): boolean {
  requireUnchanged(how === 'changed' ? [id] : [], force);
  return how === 'as-before';
}
