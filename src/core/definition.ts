/** What a model is given of a tool: its name, what it does, and the schema of its arguments. */
import type { CatalogTool } from './catalog.js';
import { targetArgumentOf } from './catalog.js';
import { isObject } from './json.js';
import type { JsonObject } from './json.js';
import type { Loader } from './expose.js';
import type { AgentSubject } from './pipeline.js';

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** A definition with what some formats tell besides. */
export interface FullDefinition extends ToolDefinition {
  /** Null where it is the name again. */
  readonly title: string | null;
  readonly outputSchema: JsonObject | null;
  readonly annotations: JsonObject;
}

/** Agent over governance over declaration. The words of an intent are never used here. */
export const descriptionFor = ({ name, effective }: CatalogTool, { agent }: Pick<AgentSubject, 'agent'>): string => agent.overrides.get(name)?.description ?? effective.description;

/** Agent over governance over declaration. */
export const labelFor = ({ name, effective }: CatalogTool, { agent }: Pick<AgentSubject, 'agent'>): string => agent.overrides.get(name)?.label ?? effective.label;

export const definitionOf = (tool: CatalogTool, subject: AgentSubject): ToolDefinition => ({
  name: tool.name,
  description: descriptionFor(tool, subject),
  inputSchema: tool.effective.role === 'spawn' ? withTargets(tool, [...subject.targets]) : tool.effective.inputSchema,
});

export function fullDefinitionOf(tool: CatalogTool, subject: AgentSubject): FullDefinition {
  const { outputSchema, annotations } = tool.effective;
  const label = labelFor(tool, subject);
  return { ...definitionOf(tool, subject), title: label === tool.name ? null : label, outputSchema, annotations };
}

/** Constant texts: what a provider keeps of a prompt stays good from turn to turn. */
const LOADER_DEFINITIONS: Readonly<Record<Loader, ToolDefinition>> = {
  load_tools: {
    name: 'load_tools',
    description:
      'Loads tools that are available but not shown yet. Give their exact names as the catalogue of tools lists them; load all that the task needs in one call. ' +
      'The answer tells for each name whether it was loaded, with its definition; from then on call it like any other tool. Never call a tool that has not been loaded.',
    inputSchema: {
      type: 'object',
      properties: { tool_names: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, description: 'exact names of the tools to load' } },
      required: ['tool_names'],
      additionalProperties: false,
    },
  },
  tool_search: {
    name: 'tool_search',
    description:
      'Finds tools that are available but not shown. Search whenever no tool at hand does what the task needs, before saying that it can not be done. ' +
      'Describe in a few words what the tool should do, in English or Chinese, or give its exact name. The answer holds the definitions of what was found, best first; ' +
      'those tools can be called from then on. If nothing fits, search again with other words.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, description: 'what the tool should do, or its exact name' },
        limit: { type: 'integer', minimum: 1, maximum: 50, default: 5, description: 'how many tools to return at the most' },
      },
      required: ['query'],
      additionalProperties: false,
    },
  },
};

export const loaderDefinition = (name: Loader): ToolDefinition => LOADER_DEFINITIONS[name];

/** A spawn tool's schema lists exactly the agents that may be started. */
function withTargets({ effective }: CatalogTool, targets: readonly string[]): JsonObject {
  const { inputSchema } = effective;
  const argument = targetArgumentOf(effective);
  const properties = isObject(inputSchema['properties']) ? inputSchema['properties'] : {};
  const declared = Object.hasOwn(properties, argument) && isObject(properties[argument]) ? properties[argument] : { type: 'string' };
  const named = new Map(Object.entries(properties)).set(argument, { ...declared, enum: targets });
  return { ...inputSchema, properties: Object.fromEntries(named) };
}
