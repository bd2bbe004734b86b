import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

type Json = Record<string, unknown>;

/** What one step does; exactly one of these, beside `want`. */
const PLAIN_ACTIONS = ['sync', 'put', 'patch', 'deleteAgent', 'import', 'governance', 'deleteTool', 'settings', 'decide', 'check', 'search', 'registry'] as const;
const CONVERSATION_ACTIONS = ['converse', 'conversation', 'endConversation', 'load', 'compress'] as const;
const OPERATOR_ACTIONS = ['switch', 'bulk', 'editor', 'diagnostic', 'history', 'revert'] as const;
const WHAT_IF_ACTIONS = ['preview', 'explain', 'toolImpact', 'settingsImpact'] as const;
const ACTIONS = [...PLAIN_ACTIONS, ...CONVERSATION_ACTIONS, ...OPERATOR_ACTIONS, ...WHAT_IF_ACTIONS] as const;
type PlainAction = (typeof PLAIN_ACTIONS)[number];
type ConversationAction = (typeof CONVERSATION_ACTIONS)[number];
type OperatorAction = (typeof OPERATOR_ACTIONS)[number];
type WhatIfAction = (typeof WHAT_IF_ACTIONS)[number];
export type ActionName = PlainAction | ConversationAction | OperatorAction | WhatIfAction;

interface StepOf<Action extends ActionName> {
  readonly action: Action;
  readonly input: Json;
  readonly want: Json;
}

export type PlainStep = StepOf<PlainAction>;
/** A step about one conversation. */
export type ConversationStep = StepOf<ConversationAction>;
/** A step of an operator at the pages of tools and agents; `language` is the one that is asked for. */
export type OperatorStep = StepOf<OperatorAction>;
/** A step that asks what would be, or why something is. */
export type WhatIfStep = StepOf<WhatIfAction>;
export type Step = PlainStep | ConversationStep | OperatorStep | WhatIfStep;

export const isOfConversation = (step: Step): step is ConversationStep => (CONVERSATION_ACTIONS as readonly string[]).includes(step.action);
export const isOfOperator = (step: Step): step is OperatorStep => (OPERATOR_ACTIONS as readonly string[]).includes(step.action);

export const isWhatIf = (step: Step): step is WhatIfStep => (WHAT_IF_ACTIONS as readonly string[]).includes(step.action);

export interface Case {
  /** A sentence: the rule. */
  readonly description: string;
  /** Where it stands, for instance `grants/a-deny-beats-an-allow`. */
  readonly file: string;
  readonly steps: readonly Step[];
}

const FOLDER = path.resolve('test/cases');
const CASE_KEYS = ['description', 'categories', 'catalog', 'settings', 'agent', 'agents', 'request', 'want', 'steps'];
const MAX_LINES = 60;

/** The agent that a case means where it names none. */
export const DEFAULT_AGENT = 'agent';

/** The conversation that a step about one means where it names none. */
export const DEFAULT_CONVERSATION = 'c';

function reject(file: string, problem: string): never {
  throw new Error(`case ${file}: ${problem}`);
}

function onlyKeys(file: string, value: Json, known: readonly string[]): void {
  const stray = Object.keys(value).find((key) => !known.includes(key));
  if (stray !== undefined) reject(file, `unknown key \`${stray}\``);
}

/** `tools` filled with a description where they have none, so that cases stay short. */
const entries = (tools: unknown): unknown[] =>
  (tools as unknown[]).map((tool) => (typeof tool === 'string' ? { name: tool, description: `does ${tool}` } : { description: `does ${String((tool as Json)['name'])}`, ...(tool as Json) }));

const setup = (action: PlainAction, input: Json): Step => ({ action, input, want: {} });

function readStep(file: string, raw: Json): Step {
  const { want = {}, ...rest } = raw;
  const [[action, input] = [], ...more] = Object.entries(rest);
  if (action === undefined || more.length > 0 || !(ACTIONS as readonly string[]).includes(action)) reject(file, `a step is one of ${ACTIONS.join(', ')}`);
  const body: Json = typeof input === 'string' ? { name: input } : { ...(input as Json | null) };
  if (action === 'sync' && body['format'] === undefined && body['raw'] !== true) body['tools'] = entries(body['tools']);
  delete body['raw'];
  return { action, input: body, want } as Step;
}

function readCase(file: string): Case {
  const text = readFileSync(path.join(FOLDER, `${file}.yaml`), 'utf8');
  if (text.split('\n').length > MAX_LINES + 1) reject(file, `longer than ${MAX_LINES} lines`);
  const raw = parse(text) as Json;
  onlyKeys(file, raw, CASE_KEYS);
  const { description, categories, catalog, settings, agent, agents, request, want, steps = [] } = raw;
  if (typeof description !== 'string') reject(file, 'no description');
  if ((want === undefined) === ((steps as unknown[]).length === 0)) reject(file, 'either `want` or `steps`');
  const documents = { ...(agents as Json), ...(agent === undefined && agents !== undefined ? {} : { [DEFAULT_AGENT]: agent ?? {} }) };
  return {
    description,
    file,
    steps: [
      ...(settings === undefined ? [] : [setup('settings', settings as Json)]),
      ...(catalog === undefined ? [] : [setup('sync', { source: 'runtime', ...(categories === undefined ? {} : { categories }), tools: entries(catalog) })]),
      ...Object.entries(documents).map(([agentId, document]) => setup('put', { agentId, ...(document as Json | null) })),
      ...(want === undefined ? [] : [{ action: 'decide' as const, input: (request ?? {}) as Json, want: want as Json }]),
      ...(steps as Json[]).map((step) => readStep(file, step)),
    ],
  };
}

/** Every case, by file. */
export function readCases(): Case[] {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => file.slice(0, -'.yaml'.length).split(path.sep).join('/')).sort().map(readCase);
}
