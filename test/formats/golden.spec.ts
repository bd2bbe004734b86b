import { describe, expect, it } from '@jest/globals';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { FORMATS } from '../../src/core/formats/format.js';
import { aliasesOf } from '../../src/core/formats/aliases.js';
import { provide } from '../../src/core/formats/provide.js';
import { mcpCatalogs } from '../support/catalogs.js';
import { PROVIDER_RULES } from '../support/provider-rules.js';

/** As sync stores them: every tool of every server in one tenant, named `server/tool`. */
const tools = mcpCatalogs().flatMap(({ server, tools: list }) =>
  list.map((tool: any) => ({
    name: `${server}/${tool.name}`,
    title: tool.title ?? null,
    description: tool.description ?? '',
    inputSchema: tool.inputSchema ?? { type: 'object' },
    outputSchema: tool.outputSchema ?? null,
    annotations: tool.annotations ?? {},
  })));
const aliases = aliasesOf(tools.map(({ name }) => name));
const nameOf = (definition: any): string => definition.function?.name ?? definition.name;

const whereThereAre = tools.length > 0 ? describe : describe.skip;
whereThereAre('every tool of the real MCP servers', () => {
  it.each(FORMATS)('keeps the rules of %s', (format) => {
    const { definitions, warnings } = provide({ format, nativeDeferral: false, loaders: ['load_tools', 'tool_search'], initial: tools, searchable: [], aliases });
    const faults = definitions.flatMap((definition) => (PROVIDER_RULES[format]?.(definition) ?? ['no rules']).map((text) => `${nameOf(definition)}: ${text}`));
    expect(faults).toEqual([]);
    expect(warnings.filter(({ code }) => code !== 'DESCRIPTION_CUT')).toEqual([]);
    const told = format === 'envelope' ? (definitions[0] as any).inputSchema.properties.name.enum : definitions.map(nameOf);
    expect(new Set(told).size).toBe(tools.length + 2);
    expect(told.slice(2).map(aliases.nameOf)).toEqual(tools.map(({ name }) => name));
  });

  it('is a tool by the schema of the official MCP SDK', () => {
    const { definitions } = provide({ format: 'mcp', nativeDeferral: false, loaders: ['tool_search'], initial: tools, searchable: [], aliases });
    for (const definition of definitions) expect(ToolSchema.safeParse(definition)).toMatchObject({ success: true });
  });

  it('has arguments that JSON Schema 2020-12 knows, and an envelope whose references lead somewhere', () => {
    const { definitions } = provide({ format: 'anthropic', nativeDeferral: false, loaders: [], initial: tools, searchable: [], aliases });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const { input_schema: schema } of definitions as any[]) expect(ajv.validateSchema(schema)).toBe(true);
    const [envelope] = provide({ format: 'envelope', nativeDeferral: false, loaders: [], initial: tools, searchable: [], aliases }).definitions as any[];
    const judge = new Ajv2020({ strict: false, validateFormats: false }).compile(envelope.inputSchema);
    expect(judge({ name: aliases.aliasOf('filesystem/read_text_file'), input: { path: '/a' } })).toBe(true);
    expect(judge({ name: aliases.aliasOf('filesystem/read_text_file'), input: { path: 1 } })).toBe(false);
    expect(judge({ name: 'filesystem/read_text_file', input: { path: '/a' } })).toBe(false);
  });
});
