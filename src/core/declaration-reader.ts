/** Reads one entry of a sync: types, unknown members, defaults. The first fault rejects the entry (semantics, section 1). */
import type { Declaration, Intent, Renderer, RuntimeNeeds, ToolExtra } from './catalog.js';
import { CAPABILITIES, FILESYSTEMS, INT32, KINDS, ROLES, ROUTING_STRATEGIES, STATUSES, VISIBILITIES } from './catalog.js';
import { byText, isObject, unique } from './json.js';
import type { JsonObject } from './json.js';

/** What is wrong with an entry, and where. */
export class FieldFault extends Error {}

type Read<T> = (value: unknown, at: string) => T;

const fail = (at: string, wanted: string): never => {
  throw new FieldFault(`\`${at}\` must be ${wanted}`);
};

const text: Read<string> = (value, at) => (typeof value === 'string' ? value : fail(at, 'a string'));
const nonBlank: Read<string> = (value, at) => (typeof value === 'string' && value.trim() !== '' ? value : fail(at, 'a non-blank string'));
const flag: Read<boolean> = (value, at) => (typeof value === 'boolean' ? value : fail(at, 'true or false'));
const integer: Read<number> = (value, at) => (typeof value === 'number' && Number.isSafeInteger(value) && value >= INT32.min && value <= INT32.max ? value : fail(at, 'an integer of 32 bits'));
const object: Read<JsonObject> = (value, at) => (isObject(value) ? value : fail(at, 'an object'));
const texts: Read<readonly string[]> = (value, at) => (Array.isArray(value) ? value.map((item, i) => text(item, `${at}[${i}]`)) : fail(at, 'a list of strings'));
const orNull = <T>(read: Read<T>): Read<T | null> => (value, at) => (value === null ? null : read(value, at));
const oneOf = <T extends string>(allowed: readonly T[]): Read<T> => (value, at) => allowed.find((item) => item === value) ?? fail(at, `one of ${allowed.join(', ')}`);

function onlyMembers(value: JsonObject, known: readonly string[], at: string): JsonObject {
  const stray = Object.keys(value).find((key) => !known.includes(key));
  if (stray !== undefined) throw new FieldFault(`\`${at === '' ? stray : `${at}.${stray}`}\` is not a known member`);
  return value;
}

/** A member that is absent takes its default; at the top level null is a value like any other. */
const member = <T>(entry: JsonObject, name: string, read: Read<T>, fallback: T): T => (Object.hasOwn(entry, name) ? read(entry[name], name) : fallback);

/** In a nested object null means absent as well. */
const nested = <T>(value: JsonObject, at: string, name: string, read: Read<T>, fallback: T): T => {
  const given = Object.hasOwn(value, name) ? value[name] : null;
  return given === null ? fallback : read(given, `${at}.${name}`);
};

const runtime: Read<RuntimeNeeds> = (value, at) => {
  const needs = onlyMembers(object(value, at), ['filesystem', 'shell', 'network', 'mainProcess', 'operations'], at);
  return {
    filesystem: nested(needs, at, 'filesystem', oneOf(FILESYSTEMS), 'none'),
    shell: nested(needs, at, 'shell', flag, false),
    network: nested(needs, at, 'network', flag, false),
    mainProcess: nested(needs, at, 'mainProcess', flag, false),
    operations: nested(needs, at, 'operations', texts, []),
  };
};

const intent: Read<Intent> = (value, at) => {
  const given = onlyMembers(object(value, at), ['description', 'when', 'delegates'], at);
  return {
    description: nested<string | null>(given, at, 'description', text, null),
    when: nested<string | null>(given, at, 'when', text, null),
    delegates: unique(nested(given, at, 'delegates', texts, [])).sort(byText),
  };
};

const renderer: Read<Renderer> = (value, at) => {
  const given = onlyMembers(object(value, at), ['key', 'capabilities'], at);
  return { key: nonBlank(given['key'], `${at}.key`), capabilities: nested(given, at, 'capabilities', texts, []) };
};

const extra: Read<ToolExtra> = (value, at) => {
  const given = object(value, at);
  return {
    ...given,
    workerRoutingStrategy: nested(given, at, 'workerRoutingStrategy', oneOf(ROUTING_STRATEGIES), 'auto'),
    allowInSubagent: nested(given, at, 'allowInSubagent', flag, true),
  };
};

const MEMBERS = [
  'name', 'label', 'description', 'toolset', 'visibility', 'capability', 'kind', 'role', 'targetAgentId', 'targetArgument', 'isCore', 'canDisable',
  'status', 'sort', 'supportsPromptHint', 'promptHint', 'scenes', 'active', 'requiresSkillEntry', 'intent', 'loadingCategory', 'keywords', 'inputSchema',
  'outputSchema', 'annotations', 'runtime', 'renderer', 'extra',
];

/** How the entries of one sync are read. */
export interface EntryForm {
  readonly format: 'toolcrib' | 'mcp';
  /** The toolset of entries that name none. */
  readonly defaultToolset: string;
}

/** The declaration under its stored `name`, every default filled in. Throws {@link FieldFault}. */
export function readDeclaration(entry: JsonObject, name: string, form: EntryForm): Declaration {
  return form.format === 'mcp' ? fromMcpTool(entry, name, form) : fromEntry(entry, name, form);
}

function fromEntry(raw: JsonObject, name: string, { defaultToolset }: EntryForm): Declaration {
  const entry = onlyMembers(raw, MEMBERS, '');
  const role = member(entry, 'role', oneOf(ROLES), 'ordinary');
  return {
    name,
    label: member(entry, 'label', text, name),
    description: text(entry['description'], 'description'),
    toolset: member(entry, 'toolset', nonBlank, defaultToolset),
    visibility: member(entry, 'visibility', oneOf(VISIBILITIES), 'tool'),
    capability: member(entry, 'capability', oneOf(CAPABILITIES), 'text'),
    kind: member(entry, 'kind', oneOf(KINDS), 'write'),
    ...readRole(entry, role),
    isCore: member(entry, 'isCore', flag, false),
    canDisable: member(entry, 'canDisable', flag, true),
    status: member(entry, 'status', oneOf(STATUSES), 'enabled'),
    sort: member(entry, 'sort', integer, 0),
    supportsPromptHint: member(entry, 'supportsPromptHint', flag, true),
    promptHint: member(entry, 'promptHint', orNull(text), null),
    scenes: member(entry, 'scenes', orNull(texts), null),
    active: member(entry, 'active', orNull(text), null),
    requiresSkillEntry: member(entry, 'requiresSkillEntry', orNull(text), null),
    intent: member(entry, 'intent', orNull(intent), null),
    loadingCategory: member(entry, 'loadingCategory', orNull(text), null),
    keywords: member(entry, 'keywords', texts, []),
    ...readSchemas(entry),
    runtime: member(entry, 'runtime', runtime, runtime({}, 'runtime')),
    renderer: member(entry, 'renderer', orNull(renderer), null),
    extra: member(entry, 'extra', extra, extra({}, 'extra')),
  };
}

/** A target makes sense for its own role alone: elsewhere it tells of a forgotten `role`. */
function readRole(entry: JsonObject, role: Declaration['role']): Pick<Declaration, 'role' | 'targetAgentId' | 'targetArgument'> {
  const targetAgentId = role === 'delegate' ? nonBlank(entry['targetAgentId'], 'targetAgentId') : member(entry, 'targetAgentId', orNull(nonBlank), null);
  const targetArgument = member(entry, 'targetArgument', orNull(nonBlank), null);
  if (role !== 'delegate' && targetAgentId !== null) throw new FieldFault('`targetAgentId` is for tools with `role: delegate`');
  if (role !== 'spawn' && targetArgument !== null) throw new FieldFault('`targetArgument` is for tools with `role: spawn`');
  return { role, targetAgentId, targetArgument };
}

const readSchemas = (entry: JsonObject): Pick<Declaration, 'inputSchema' | 'outputSchema' | 'annotations'> => ({
  inputSchema: member(entry, 'inputSchema', object, { type: 'object' }),
  outputSchema: member(entry, 'outputSchema', orNull(object), null),
  annotations: member(entry, 'annotations', object, {}),
});

/** An MCP `Tool` object as `tools/list` returns it: unknown members are ignored, and only the name is required. */
function fromMcpTool(entry: JsonObject, name: string, form: EntryForm): Declaration {
  const title = member(entry, 'title', text, '');
  const label = title.trim() === '' ? text(entry['name'], 'name') : title;
  const known: JsonObject = { label, description: member(entry, 'description', text, ''), ...readSchemas(entry) };
  return fromEntry(known, name, form);
}
