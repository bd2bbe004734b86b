/** The shapes of definitions on the wire, as the providers publish them; `test/formats/sdk-types.spec.ts` holds them against the official SDKs. */
import type { JsonObject } from '../json.js';

export interface ObjectSchema extends JsonObject {
  readonly type: 'object';
}

export interface OpenAiFunction {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

export interface ResponsesFunction {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly strict: false;
}

export interface AnthropicTool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: ObjectSchema;
}

export interface GeminiFunction {
  readonly name: string;
  readonly description: string;
  /** Left out for a function without parameters. */
  readonly parameters?: JsonObject;
}

export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations?: JsonObject;
}

/** The longest description of a function that OpenAI's chat completions take, in characters. */
const LONGEST_DESCRIPTION = 1024;

/** Never inside a character of two code units. */
export function cut(description: string): string {
  if (description.length <= LONGEST_DESCRIPTION) return description;
  const kept = description.slice(0, LONGEST_DESCRIPTION - 1);
  return `${kept.replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

const HINTS: Readonly<Record<string, 'string' | 'boolean'>> = { title: 'string', readOnlyHint: 'boolean', destructiveHint: 'boolean', idempotentHint: 'boolean', openWorldHint: 'boolean' };

/** Annotations are free-form here; a known one of another type would have a client refuse the whole list. */
export const mcpAnnotations = (annotations: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(annotations).filter(([key, value]) => !Object.hasOwn(HINTS, key) || typeof value === HINTS[key]));
