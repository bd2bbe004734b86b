import { Injectable } from '@nestjs/common';
import type { Narrowing, Subject } from '../core/pipeline.js';
import { UNNARROWED, subjectOf } from '../core/pipeline.js';
import type { PolicyAgent, PolicyView } from '../core/policy-view.js';
import type { DecideContext } from '../core/request.js';
import { Engines } from '../engines/engines.js';
import { AppError, agentNotFound } from '../platform/errors/app-error.js';

/** For whom it is decided, by the names that a request gives. */
@Injectable()
export class Subjects {
  constructor(private readonly engines: Engines) {}

  /** An agent that does not exist is `AGENT_NOT_FOUND`, a parent that does not `UNKNOWN_PARENT`. */
  of(view: PolicyView, agentId: string, context: DecideContext, narrowing: Narrowing = UNNARROWED): Subject {
    const agent = view.agents.get(agentId);
    if (agent === undefined) throw agentNotFound(agentId);
    return subjectOf({ view, agent, parent: parentOf(view, context), context, narrowing, evaluate: this.engines.evaluateCondition });
  }
}

/** Null for a main agent; `UNKNOWN_PARENT` for one that does not exist. */
export function parentOf({ agents }: PolicyView, { subagent }: DecideContext): PolicyAgent | null {
  if (subagent === null) return null;
  const parent = agents.get(subagent.parentAgentId);
  if (parent === undefined) throw new AppError('UNKNOWN_PARENT', `there is no agent \`${subagent.parentAgentId}\` to be the parent`);
  return parent;
}
