import { Inject, Injectable } from '@nestjs/common';
import { beyondLimit } from '../core/agent-document.js';
import { offeredTools } from '../core/decide.js';
import { unknownToolsetWarning } from '../core/migrate-legacy.js';
import type { PolicyView } from '../core/policy-view.js';
import type { Drafts, NameDiff } from '../core/preview.js';
import { diffOf, draftedAgent, draftedInput, viewWith } from '../core/preview.js';
import type { Language } from '../core/reason.js';
import type { DecideInput } from '../core/request.js';
import { readDecideRequest } from '../core/request.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { AppError } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Subjects } from '../policy/subjects.js';
import type { AnsweredDecision } from './decision.service.js';
import { DecisionService, toldOf } from './decision.service.js';
import type { WithMinRevision } from './grounds.js';
import { Grounds } from './grounds.js';

export type Preview = AnsweredDecision & { readonly diff: NameDiff };

/** Decides as if a draft were saved. It reads what decide reads, and has nothing to write with. */
@Injectable()
export class PreviewService {
  constructor(
    private readonly grounds: Grounds,
    private readonly decisions: DecisionService,
    private readonly subjects: Subjects,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  /** INVARIANT (preview is decide): the answer is that of decide on the view after the save, with the difference to now. */
  async preview(tenant: TenantId, input: DecideInput & WithMinRevision, drafts: Drafts, language: Language): Promise<Preview> {
    const ground = this.grounds.hot(tenant, input) ?? await this.grounds.read(tenant, input);
    const decision = toldOf(this.decisions.decideFrom({ ...ground, view: this.drafted(ground.view, input.agentId, drafts) }, input, language));
    return { ...decision, diff: diffOf(this.toolNamesNow(ground.view, input), decision.toolNames) };
  }

  private drafted(view: PolicyView, agentId: string, drafts: Drafts): PolicyView {
    const input = draftedInput(view.agents.get(agentId)?.record.document ?? null, drafts);
    const beyond = beyondLimit(input, this.limits);
    if (beyond !== null) throw new AppError('LIMIT_EXCEEDED', beyond);
    const drafted = draftedAgent(view, agentId, input);
    if ('record' in drafted) return viewWith(view, { agents: [drafted.record] });
    throw new AppError('UNKNOWN_TOOLSET', drafted.unknownToolsets.map((name) => unknownToolsetWarning(name).message).join('; '));
  }

  /** Nothing for an agent that is not saved yet. */
  private toolNamesNow(view: PolicyView, input: DecideInput): string[] {
    const { agentId, context, view: shows, select } = readDecideRequest(input);
    if (!view.agents.has(agentId)) return [];
    return offeredTools(this.subjects.of(view, agentId, context, { view: shows, select })).map(({ name }) => name);
  }
}
