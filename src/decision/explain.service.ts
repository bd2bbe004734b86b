import { Injectable } from '@nestjs/common';
import type { Explanation } from '../core/explain.js';
import { explain } from '../core/explain.js';
import type { Language } from '../core/reason.js';
import type { DecideInput } from '../core/request.js';
import { readDecideRequest } from '../core/request.js';
import { AppError, agentNotFound } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Subjects } from '../policy/subjects.js';
import type { WithMinRevision } from './grounds.js';
import { Grounds, offeringIn } from './grounds.js';

@Injectable()
export class ExplainService {
  constructor(
    private readonly grounds: Grounds,
    private readonly subjects: Subjects,
  ) {}

  /** From a conversation as it is everywhere, as check judges what waits to be loaded. */
  async explain(tenant: TenantId, toolName: string, input: DecideInput & WithMinRevision, language: Language): Promise<Explanation> {
    const ground = await this.grounds.readAnew(tenant, input);
    const { view } = ground;
    const asked = readDecideRequest(input);
    if (!view.agents.has(asked.agentId)) throw agentNotFound(asked.agentId);
    const tool = view.byName.get(toolName);
    if (tool === undefined) throw new AppError('TOOL_NOT_FOUND', `there is no tool \`${toolName}\``);
    const subject = this.subjects.of(view, asked.agentId, asked.context, { view: asked.view, select: asked.select });
    return explain(tool, subject, { asked, offering: offeringIn(ground, asked) }, language);
  }
}
