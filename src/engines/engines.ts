import type { CheckCondition, CheckSchema, ConditionFacts, EvaluateCondition, ValidateArguments } from '../core/engines.js';

/** The libraries that the core is handed. Everything here is pure, bounded in time and free of I/O. */
export abstract class Engines {
  abstract readonly evaluateCondition: EvaluateCondition;
  /** Whether a condition on these facts is false only because time ran out: asked again, it may be true. */
  abstract readonly ranOutOfTime: (facts: ConditionFacts) => boolean;
  abstract readonly checkCondition: CheckCondition;
  abstract readonly validateArguments: ValidateArguments;
  abstract readonly checkSchema: CheckSchema;
}
