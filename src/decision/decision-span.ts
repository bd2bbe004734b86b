import type { CheckAnswer } from '../core/decision.js';
import type { TurnInput } from '../core/request.js';
import type { Attributes } from '../platform/observability/tracing.js';
import type { Asker } from './decision-log.js';

interface Decision {
  readonly agentId: string;
  readonly revision: number;
  readonly outcome: string;
  readonly staleForMs: number;
  readonly road: Asker['road'];
}

/** Of a body that was read without a fault. */
export const agentOf = (body: Buffer): string => (JSON.parse(body.toString('utf8')) as TurnInput).agentId;

/** In the word that metrics and spans have for it. */
export const outcomeOfCheck = ({ allowed }: CheckAnswer): 'allowed' | 'refused' => (allowed ? 'allowed' : 'refused');

/** What the span of a request says of the decision that it was answered with. */
export const spanOf = ({ agentId, revision, outcome, staleForMs, road }: Decision): Attributes => ({
  'toolcrib.agent': agentId,
  'toolcrib.revision': revision,
  'toolcrib.outcome': outcome,
  'toolcrib.freshness': staleForMs === 0 ? 'fresh' : 'stale',
  'toolcrib.road': road,
});
