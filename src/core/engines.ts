/** Libraries that the core is handed: conditions (CEL) and JSON Schema stay behind these. */
import type { JsonObject } from './json.js';

/** What a CEL expression sees. An absent `scene` or `capabilities` is unset: touching it is an error. */
export interface ConditionFacts {
  readonly attributes: JsonObject;
  readonly depth: number;
  readonly scene?: string;
  readonly model: { readonly capabilities?: readonly string[] };
}

/** Whether the expression is true; an error or a non-boolean is false, and so is what there is no more time for. Never throws. */
export type EvaluateCondition = (expression: string, facts: ConditionFacts) => boolean;

/** Null when the expression compiles, else what is wrong with it and where. */
export type CheckCondition = (expression: string) => string | null;

export interface ArgumentFault {
  /** A JSON Pointer into the arguments. */
  readonly path: string;
  readonly message: string;
}

/** The faults of a value by a schema; empty when it fits. Bounded in time; what can not be judged is a fault. */
export type ValidateArguments = (schema: JsonObject, value: unknown) => readonly ArgumentFault[];

/** Null when the schema is valid by its meta-schema and refers to nothing outside itself, else what is wrong. */
export type CheckSchema = (schema: JsonObject) => string | null;
