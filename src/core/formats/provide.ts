/** Definitions as the providers of models take them (semantics, section 8). */
import type { Warning } from '../agent-document.js';
import type { FullDefinition, ToolDefinition } from '../definition.js';
import { loaderDefinition } from '../definition.js';
import type { Loader } from '../expose.js';
import { isObject } from '../json.js';
import type { JsonObject } from '../json.js';
import type { Aliases } from './aliases.js';
import { envelopeOf } from './envelope.js';
import type { Format } from './format.js';
import { definitionLimit } from './format.js';
import { schemaFor } from './repair-schema.js';
import type { AnthropicTool, GeminiFunction, McpTool, OpenAiFunction, ResponsesFunction } from './shapes.js';
import { cut, mcpAnnotations } from './shapes.js';

type Given = ToolDefinition & Partial<FullDefinition>;

export interface Offer {
  readonly format: Format;
  readonly nativeDeferral: boolean;
  readonly loaders: readonly Loader[];
  readonly initial: readonly Given[];
  /** Told to nobody but a provider that searches among them itself. */
  readonly searchable: readonly Given[];
  readonly aliases: Aliases;
}

export interface Provided {
  readonly definitions: readonly object[];
  readonly warnings: readonly Warning[];
}

/** Loaders first, then what is initial; one schema that can not be told leaves out its own tool and nothing else. */
export function provide(offer: Offer): Provided {
  const { format, loaders, initial, searchable, aliases } = offer;
  const search = nativeSearch(offer);
  const own = search === null ? loaders.map((name): Given => loaderDefinition(name)) : [];
  const deferred = search === null ? [] : searchable;
  const warnings = [...deferralWarnings(offer, search), ...[...own, ...initial, ...deferred].flatMap((one) => warningsOf(format, one))];
  if (format === 'envelope') return { definitions: envelopeOf([...own, ...initial], aliases), warnings };
  const told = (list: readonly Given[]): object[] => list.flatMap((one) => definitionIn(format, one, aliases) ?? []);
  return { definitions: [...(search === null ? [] : [search]), ...told([...own, ...initial]), ...told(deferred).map((one) => ({ ...one, defer_loading: true }))], warnings };
}

/** One definition in a format; without one it is the plain `{name, description, inputSchema}`. Null where the format has no way to tell it. */
export function definitionIn(format: Format | null, given: Given, aliases: Aliases): object | null {
  const { name, description, inputSchema } = given;
  if (format === null) return { name, description, inputSchema } satisfies ToolDefinition;
  const schema = schemaFor(format, inputSchema);
  return schema && WRITERS[format]({ ...given, name: aliases.aliasOf(name) }, schema);
}

const described = (description: string): { readonly description?: string } => (description === '' ? {} : { description });

/** `given` bears the name that the provider sees; `schema` is the repaired one. */
const WRITERS: Readonly<Record<Format, (given: Given, schema: JsonObject) => object>> = {
  'openai-chat': ({ name, description }, schema) => ({ type: 'function', function: { name, description: cut(description), parameters: schema } }) satisfies OpenAiFunction,
  // Left out, strictness is on there, and changes the schema.
  'openai-responses': ({ name, description }, schema) => ({ type: 'function', name, description, parameters: schema, strict: false }) satisfies ResponsesFunction,
  anthropic: ({ name, description }, schema) => ({ name, ...described(description), input_schema: { ...schema, type: 'object' } }) satisfies AnthropicTool,
  gemini: ({ name, description }, schema) => ({ name, description, ...(isObject(schema['properties']) ? { parameters: schema } : {}) }) satisfies GeminiFunction,
  mcp: mcpTool,
  envelope: ({ name, description }, schema) => ({ name, description, inputSchema: schema }) satisfies ToolDefinition,
};

function mcpTool({ name, title, description, outputSchema, annotations }: Given, schema: JsonObject): McpTool {
  const output = outputSchema ? schemaFor('mcp', outputSchema) : null;
  const hints = mcpAnnotations(annotations ?? {});
  return {
    name,
    ...(title ? { title } : {}),
    description,
    inputSchema: { ...schema, type: 'object' },
    ...(output === null ? {} : { outputSchema: { ...output, type: 'object' } }),
    ...(Object.keys(hints).length > 0 ? { annotations: hints } : {}),
  };
}

const DEFERS: ReadonlySet<Format> = new Set<Format>(['anthropic', 'openai-responses']);

/** How many tools Anthropic's own search goes through. */
const ANTHROPIC_CATALOG = 10_000;

/** The provider's own search; null where it is not wanted or not needed, where there is none, and where it takes fewer tools than there are. */
function nativeSearch({ format, nativeDeferral, initial, searchable, aliases }: Offer): object | null {
  if (!nativeDeferral || searchable.length === 0) return null;
  const limit = definitionLimit(format);
  if (limit !== null && 1 + initial.length + searchable.length > limit) return null;
  if (format === 'openai-responses') return { type: 'tool_search' };
  if (format !== 'anthropic' || searchable.length > ANTHROPIC_CATALOG) return null;
  const taken = new Set([...initial, ...searchable].map(({ name }) => aliases.aliasOf(name)));
  const name = ['tool_search_tool_bm25', 'tool_search_tool_regex'].find((one) => !taken.has(one));
  return name === undefined ? null : { type: `${name}_20251119`, name };
}

const deferralWarnings = ({ format, nativeDeferral, searchable }: Offer, search: object | null): Warning[] =>
  nativeDeferral && search === null && (searchable.length > 0 || !DEFERS.has(format)) ? [unsupported(format)] : [];

const unsupported = (format: Format): Warning => ({
  code: 'NATIVE_DEFERRAL_UNSUPPORTED',
  message: DEFERS.has(format) ? `\`${format}\` can not search among that many tools itself; the loaders are offered instead` : `\`${format}\` has no search of its own; the loaders are offered instead`,
});

/** What is told of one tool in a format is less than what was declared. */
export function warningsOf(format: Format, { name, description, inputSchema }: Given): Warning[] {
  if (schemaFor(format, inputSchema) === null) return [{ code: 'SCHEMA_NOT_SUPPORTED', message: `the schema of \`${name}\` can not be written for \`${format}\`; the tool is left out of the definitions`, name }];
  if (format === 'openai-chat' && cut(description) !== description) return [{ code: 'DESCRIPTION_CUT', message: `the description of \`${name}\` is longer than \`${format}\` takes; its end is left out`, name }];
  return [];
}
