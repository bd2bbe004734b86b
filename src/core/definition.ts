/** What a model is given of a tool: its name, what it does, and the schema of its arguments. */
import type { CatalogTool } from './catalog.js';
import { targetArgumentOf } from './catalog.js';
import { isObject } from './json.js';
import type { JsonObject } from './json.js';
import type { Subject } from './pipeline.js';

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** Agent over governance over declaration. The words of an intent are never used here. */
export const descriptionFor = ({ name, effective }: CatalogTool, { agent }: Subject): string => agent.overrides.get(name)?.description ?? effective.description;

export const definitionOf = (tool: CatalogTool, subject: Subject): ToolDefinition => ({
  name: tool.name,
  description: descriptionFor(tool, subject),
  inputSchema: tool.effective.role === 'spawn' ? withTargets(tool, [...subject.targets]) : tool.effective.inputSchema,
});

/** A spawn tool's schema lists exactly the agents that may be started. */
function withTargets({ effective }: CatalogTool, targets: readonly string[]): JsonObject {
  const { inputSchema } = effective;
  const argument = targetArgumentOf(effective);
  const properties = isObject(inputSchema['properties']) ? inputSchema['properties'] : {};
  const declared = Object.hasOwn(properties, argument) && isObject(properties[argument]) ? properties[argument] : { type: 'string' };
  const named = new Map(Object.entries(properties)).set(argument, { ...declared, enum: targets });
  return { ...inputSchema, properties: Object.fromEntries(named) };
}
