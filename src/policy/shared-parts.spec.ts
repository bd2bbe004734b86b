import { describe, expect, it } from '@jest/globals';
import { normaliseDocument } from '../core/agent-document.js';
import type { AgentRecord } from '../core/agent-document.js';
import type { ToolRecord } from '../core/catalog.js';
import { readDeclaration } from '../core/declaration-reader.js';
import type { PolicyDelta } from '../core/policy-view.js';
import { applyDelta } from '../core/policy-view.js';
import { DEFAULT_SETTINGS } from '../core/settings.js';
import { withSharedParts } from './shared-parts.js';
import { viewSize } from './view-size.js';

const stored = <T>(record: T): T => JSON.parse(JSON.stringify(record)) as T;

const tool = (name: string, more: object = {}): ToolRecord =>
  stored({ name, source: 's', available: true, governance: {}, revision: 1, declaration: readDeclaration({ name, description: `does ${name}`, ...more }, name, { format: 'toolcrib', defaultToolset: 'default' }) });

const agent = (agentId: string, enabled: readonly string[]): AgentRecord =>
  stored({ agentId, document: normaliseDocument(agentId, { tools: { enabled } }), origin: 'native' as const, legacy: null, revision: 1, updatedAt: '' });

const delta = (tools: readonly ToolRecord[], agents: readonly AgentRecord[] = []): PolicyDelta => ({ incarnation: 'i', revision: 1, settings: DEFAULT_SETTINGS, settingsRevision: 0, complete: true, tools, categories: [], agents });

const onlyTool = (record: ToolRecord): ToolRecord => withSharedParts(delta([record])).tools[0] ?? record;
const SCHEMA = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };

describe('parts of records that are equal', () => {
  it('are one object in all tenants, and nobody can write to it', () => {
    const [one, other] = [onlyTool(tool('a', { inputSchema: SCHEMA })), onlyTool(tool('b', { inputSchema: SCHEMA }))];
    for (const part of ['runtime', 'extra', 'inputSchema', 'keywords', 'annotations'] as const) expect(other.declaration[part]).toBe(one.declaration[part]);
    expect(other.governance).toBe(one.governance);
    expect(() => Object.assign(one.declaration.inputSchema['properties'] as object, { more: 1 })).toThrow(TypeError);
    expect(() => (one.declaration.keywords as string[]).push('more')).toThrow(TypeError);
  });

  it('are not taken for others that differ in a value, in a type, or in the order of members', () => {
    const schemas = [SCHEMA, { ...SCHEMA, required: [] }, { required: ['path'], properties: SCHEMA.properties, type: 'object' }, { ...SCHEMA, minProperties: 1 }, { ...SCHEMA, minProperties: '1' }];
    const kept = schemas.map((inputSchema) => onlyTool(tool('a', { inputSchema })).declaration.inputSchema);
    expect(new Set(kept).size).toBe(schemas.length);
    expect(kept.map((schema) => JSON.stringify(schema))).toEqual(schemas.map((schema) => JSON.stringify(schema)));
  });

  it('leave every record as it was, byte for byte, and what was read untouched', () => {
    const given = delta([tool('a', { inputSchema: SCHEMA, scenes: [], intent: { when: 'true' } }), tool('b')], [agent('x', []), agent('y', ['a', '__proto__'])]);
    const before = JSON.stringify(given);
    expect(JSON.stringify(withSharedParts(given))).toBe(before);
    expect(JSON.stringify(given)).toBe(before);
  });

  it('that are large are kept apart: they would put out those that come again', () => {
    const large = { ...SCHEMA, description: 'x'.repeat(2_000) };
    expect(onlyTool(tool('a', { inputSchema: large })).declaration.inputSchema).not.toBe(onlyTool(tool('b', { inputSchema: large })).declaration.inputSchema);
  });

  it('weigh nothing in a view but the first that has them', () => {
    const names = Array.from({ length: 50 }, (_, i) => `tool_${i}`);
    const view = (records: readonly ToolRecord[]) => applyDelta(null, withSharedParts(delta(records, [agent('x', names)])));
    const schema = { ...SCHEMA, title: 'weighed once' };
    const sized = (more: object): number => viewSize(view(names.map((name) => tool(name, more))));
    sized({});
    const plain = sized({});
    expect(sized({ description: 'd'.repeat(1_000) }) - plain).toBeGreaterThan(45_000);
    expect([sized({ inputSchema: schema }) - plain < 500, sized({ inputSchema: schema })]).toEqual([true, plain]);
  });

  it('are charged in full where nobody else has them, however many there are', () => {
    const tools = Array.from({ length: 2_000 }, (_, i) => tool(`t${i}`, { inputSchema: { ...SCHEMA, title: `of its own ${i} ${'x'.repeat(500)}` } }));
    expect(viewSize(applyDelta(null, withSharedParts(delta(tools))))).toBeGreaterThan(1_000_000);
  });
});
