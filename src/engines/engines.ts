import type { CheckCondition, CheckSchema, EvaluateCondition, ValidateArguments } from '../core/engines.js';

/** The libraries that the core is handed. Everything here is pure, bounded in time and free of I/O. */
export abstract class Engines {
  abstract readonly evaluateCondition: EvaluateCondition;
  abstract readonly checkCondition: CheckCondition;
  abstract readonly validateArguments: ValidateArguments;
  abstract readonly checkSchema: CheckSchema;
}
