import type Anthropic from '@anthropic-ai/sdk';
import type { FunctionDeclaration, Schema, Type } from '@google/genai';
import { describe, expect, it } from '@jest/globals';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type OpenAI from 'openai';
import type { GeminiSchema } from '../../src/core/formats/repair-gemini.js';
import type { AnthropicTool, GeminiFunction, McpTool, OpenAiFunction, ResponsesFunction } from '../../src/core/formats/shapes.js';
import { aliasesOf } from '../../src/core/formats/aliases.js';
import { definitionIn, provide } from '../../src/core/formats/provide.js';

/** The compiler proves it: each function takes our shape, and gives it back as the official SDK's. */
const openAiChat = (tool: OpenAiFunction): OpenAI.ChatCompletionFunctionTool => tool;
const openAiResponses = (tool: ResponsesFunction): OpenAI.Responses.FunctionTool => tool;
const anthropic = (tool: AnthropicTool): Anthropic.Messages.Tool => tool;
const mcp = (tool: McpTool): Omit<Tool, 'annotations'> => tool;

/** Google's SDK spells the types in capitals and mends schemas itself; the API takes both, so theirs is compared member by member. */
type Scalars = 'nullable' | 'title' | 'description' | 'format' | 'minimum' | 'maximum' | 'pattern' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems' | 'minProperties' | 'maxProperties';
const geminiSchema = (schema: Pick<GeminiSchema, Scalars>): Pick<Schema, Scalars> => schema;
const geminiKeys = (key: keyof GeminiSchema): keyof Schema => key;
const geminiTypes = (type: NonNullable<GeminiSchema['type']>): Lowercase<`${Type}`> => type;
const geminiFunction = (tool: Omit<GeminiFunction, 'parameters'>): Omit<FunctionDeclaration, 'parameters'> => tool;
const geminiMembers = (key: keyof GeminiFunction): keyof FunctionDeclaration => key;

const anthropicSearch: Anthropic.Messages.ToolUnion = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };
const openAiSearch: OpenAI.Responses.Tool = { type: 'tool_search' };
const deferredClaude = (tool: AnthropicTool): Anthropic.Messages.ToolUnion => ({ ...tool, defer_loading: true });
const deferredResponses = (tool: ResponsesFunction): OpenAI.Responses.Tool => ({ ...tool, defer_loading: true });

describe('the official SDKs', () => {
  const aliases = aliasesOf([]);
  const tool = { name: 't', description: 'd', inputSchema: { type: 'object', properties: { a: { type: 'string', minLength: 1 } } } };

  it('know every shape', () => {
    expect([openAiChat, openAiResponses, anthropic, mcp, geminiSchema, geminiKeys, geminiTypes, geminiFunction, geminiMembers, deferredClaude, deferredResponses].every((one) => typeof one === 'function')).toBe(true);
    expect(definitionIn('gemini', tool, aliases)).toEqual({ name: 't', description: 'd', parameters: { type: 'object', properties: { a: { type: 'string', minLength: '1' } } } });
  });

  it('know the searches', () => {
    const searchOf = (format: 'anthropic' | 'openai-responses'): unknown => provide({ format, nativeDeferral: true, loaders: ['tool_search'], initial: [], searchable: [tool], aliases }).definitions[0];
    expect([searchOf('anthropic'), searchOf('openai-responses')]).toEqual([anthropicSearch, openAiSearch]);
  });
});
