import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { AgentRecord } from '../core/agent-document.js';
import { byText, mergePatch } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import type { Committed, GovernanceUnit } from '../governance/governance.store.js';
import { GovernanceStore } from '../governance/governance.store.js';
import type { Author } from '../platform/author.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { AppError, agentNotFound } from '../platform/errors/app-error.js';
import { requireMatch } from '../platform/errors/etag.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyViews } from '../policy/policy-views.js';
import type { DocumentInput, SaveOptions, Saved } from './agent-writer.js';
import { admitted, orderedTools, plainly, requireWithinLimits, saveDocument, saveNative } from './agent-writer.js';

export interface Put extends Saved {
  readonly created: boolean;
}

/** Documents saved before other requests get their turn. */
const DOCUMENTS_A_TURN = 20;

@Injectable()
export class AgentsService {
  constructor(
    private readonly governance: GovernanceStore,
    private readonly views: PolicyViews,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  async get(tenant: TenantId, agentId: string): Promise<AgentRecord> {
    const agent = (await this.views.fresh(tenant)).agents.get(agentId);
    if (agent === undefined) throw agentNotFound(agentId);
    return agent.record;
  }

  /** By `agentId`, those after `after`. */
  async list(tenant: TenantId, after: string | null, limit: number): Promise<readonly AgentRecord[]> {
    const { agents } = await this.views.fresh(tenant);
    const found = [...agents.values()].filter(({ agentId }) => after === null || byText(agentId, after) > 0);
    return found.sort((a, b) => byText(a.agentId, b.agentId)).slice(0, limit).map(({ record }) => record);
  }

  put(by: Author, agentId: string, ifMatch: string | undefined, input: DocumentInput, force: boolean): Promise<Committed<Put>> {
    return this.governance.write(by, async (unit) => {
      const before = await unit.findAgent(agentId);
      if (before !== null) requireMatch(ifMatch, before.revision);
      else await this.admit(unit, ifMatch);
      const saved = await saveDocument(unit, agentId, input, { ...plainly(unit), force });
      if (saved.status === 'blocked') throw new AppError('UNKNOWN_TOOLSET', saved.warnings.map(({ message }) => message).join('; '));
      return { ...saved, created: before === null };
    });
  }

  patch(by: Author, agentId: string, ifMatch: string | undefined, patch: JsonObject): Promise<Committed<Saved>> {
    return this.governance.write(by, async (unit) => {
      const before = await unit.findAgent(agentId);
      if (before === null) throw agentNotFound(agentId);
      requireMatch(ifMatch, before.revision);
      const document = mergePatch(before.document, patch) as DocumentInput;
      requireWithinLimits(document, this.limits);
      return saveNative(unit, { agentId, before, input: document, options: plainly(unit) });
    });
  }

  delete(by: Author, agentId: string): Promise<Committed<void>> {
    return this.governance.write(by, async (unit) => {
      if ((await unit.findAgent(agentId)) === null) throw agentNotFound(agentId);
      await unit.deleteAgent(agentId);
    });
  }

  /** Each agent by itself: a blocked one leaves the others alone. One transaction, one revision for each that changes. */
  import(by: Author, documents: readonly (DocumentInput & { readonly agentId: string })[], options: Pick<SaveOptions, 'dryRun' | 'force'>): Promise<Committed<readonly (Saved & { agentId: string })[]>> {
    requireDistinct(documents.map(({ agentId }) => agentId));
    return this.governance.write(by, async (unit) => {
      const tools = orderedTools(unit);
      const alongside = await admitted(unit, documents, options.force, tools);
      const isNew = alongside.size - (await unit.existingAgents([...alongside])).size;
      if ((await unit.countAgents()) + isNew > this.limits.agents) throw tooMany(this.limits.agents);
      const results: (Saved & { agentId: string })[] = [];
      for (const [i, document] of documents.entries()) {
        if (i % DOCUMENTS_A_TURN === 0) await nextTurn();
        results.push({ agentId: document.agentId, ...(await saveDocument(unit, document.agentId, document, { ...options, tools, alongside })) });
      }
      return results;
    });
  }

  private async admit(unit: GovernanceUnit, ifMatch: string | undefined): Promise<void> {
    if (ifMatch !== undefined) throw new AppError('PRECONDITION_FAILED', 'there is no such agent to match');
    if ((await unit.countAgents()) >= this.limits.agents) throw tooMany(this.limits.agents);
  }
}

const tooMany = (limit: number): AppError => new AppError('LIMIT_EXCEEDED', `a tenant may have ${limit} agents`);

function requireDistinct(agentIds: readonly string[]): void {
  const seen = new Set<string>();
  for (const [i, agentId] of agentIds.entries()) {
    if (seen.has(agentId)) throw new AppError('INVALID_REQUEST', `\`${agentId}\` stands twice in \`agents\``, [{ path: `/agents/${i}/agentId`, message: 'stands twice' }]);
    seen.add(agentId);
  }
}
