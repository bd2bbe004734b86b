import { checkSchema, validateArguments } from './ajv-schema.engine.js';
import { checkCondition, evaluateCondition, ranOutOfTime } from './cel-condition.engine.js';
import { Engines } from './engines.js';

/** CEL by `@bufbuild/cel`, JSON Schema by `ajv`. */
export class LibraryEngines extends Engines {
  override readonly evaluateCondition = evaluateCondition;
  override readonly ranOutOfTime = ranOutOfTime;
  override readonly checkCondition = checkCondition;
  override readonly validateArguments = validateArguments;
  override readonly checkSchema = checkSchema;
}
