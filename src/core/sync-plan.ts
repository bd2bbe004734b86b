/** What one sync would do to a tenant's catalog, decided before anything is written (semantics, section 6). */
import type { Declaration, LoadingCategory, ToolRecord } from './catalog.js';
import type { EntryForm } from './declaration-reader.js';
import { FieldFault, readDeclaration } from './declaration-reader.js';
import type { Warning } from './agent-document.js';
import type { CheckCondition, CheckSchema } from './engines.js';
import { byText, equalJson, isObject } from './json.js';
import type { JsonObject } from './json.js';
import { isLongerThan } from './text.js';

export interface CategoryInput {
  readonly key: string;
  readonly label: string;
  readonly whenToUse: string;
  /** Absent = its place in the list. */
  readonly sort?: number | null;
}

export interface SyncRequest {
  readonly source: string;
  readonly mode: 'full' | 'partial';
  readonly format: EntryForm['format'];
  /** Every entry is stored as `NAMESPACE/NAME`. */
  readonly namespace: string | null;
  readonly confirmRemovals: boolean;
  /** Null = leave the source's categories as they are. */
  readonly categories: readonly CategoryInput[] | null;
  /** Not yet read: each is judged by itself. */
  readonly tools: readonly unknown[];
}

export const REJECTIONS = [
  'INVALID_NAME', 'RESERVED_NAME', 'DUPLICATE_NAME', 'NAME_OWNED_BY_OTHER_SOURCE', 'INVALID_FIELD', 'INVALID_SCHEMA', 'INVALID_EXPRESSION', 'UNKNOWN_DELEGATE',
] as const;
export type RejectionCode = (typeof REJECTIONS)[number];

export interface Rejection {
  readonly index: number;
  /** As it was given; null where it was no string. */
  readonly name: string | null;
  readonly code: RejectionCode;
  readonly message: string;
}

/** The tenant's catalog before the sync. */
export interface CatalogState {
  readonly tools: ReadonlyMap<string, Pick<ToolRecord, 'source' | 'available' | 'declaration'>>;
  readonly categories: readonly LoadingCategory[];
  readonly intentDelegates: readonly string[] | null;
}

export interface SyncLimits {
  /** Bytes of JSON in UTF-8. */
  readonly schemaSize: number;
  /** Bytes in UTF-8. */
  readonly expressionSize: number;
}

export interface SyncRules {
  readonly checkSchema: CheckSchema;
  readonly checkCondition: CheckCondition;
  readonly limits: SyncLimits;
}

/** Every accepted name is in exactly one of added, restored, updated, unchanged. Lists are by name. */
export interface SyncPlan {
  readonly added: readonly string[];
  readonly restored: readonly string[];
  readonly updated: readonly string[];
  readonly unchanged: readonly string[];
  /** What this call makes unavailable. */
  readonly missing: readonly string[];
  readonly rejected: readonly Rejection[];
  readonly warnings: readonly Warning[];
  /** More than half of the source's available tools, and more than 5, would go without `confirmRemovals`. */
  readonly needsConfirmation: boolean;
  /** The declarations to store: those of added, restored and updated. */
  readonly declarations: readonly Declaration[];
  /** The source's categories afterwards, or null when they stay as they are. */
  readonly categories: readonly LoadingCategory[] | null;
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$/u;
const RESERVED = new Set(['load_tools', 'tool_search', 'tool_request']);

const isToolName = (name: string): boolean => NAME.test(name);

export function planSync(request: SyncRequest, state: CatalogState, rules: SyncRules): SyncPlan {
  const categories = categoriesAfter(request, state.categories);
  const reader: Reader = { request, state, rules, categoryKeys: new Set([...othersCategories(request, state), ...categories].map(({ key }) => key)) };
  const { accepted, rejected, mentioned } = readEntries(reader);
  const { missing, needsConfirmation } = removals(request, state, mentioned);
  const { changed, ...names } = sortOut(accepted, state);
  return {
    ...names,
    missing,
    rejected,
    needsConfirmation,
    warnings: needsConfirmation ? [{ code: 'CONFIRM_REMOVALS', message: `${missing.length} tools of \`${request.source}\` would become unavailable` }] : [],
    declarations: changed,
    categories: equalJson(categories, ownCategories(request, state.categories)) ? null : categories,
  };
}

/** Whether the plan writes anything at all. */
export const changesSomething = ({ declarations, missing, categories }: SyncPlan): boolean => declarations.length > 0 || missing.length > 0 || categories !== null;

const ownCategories = ({ source }: SyncRequest, categories: readonly LoadingCategory[]): LoadingCategory[] =>
  categories.filter((category) => category.source === source).sort((a, b) => byText(a.key, b.key));

const othersCategories = ({ source }: SyncRequest, { categories }: CatalogState): LoadingCategory[] => categories.filter((category) => category.source !== source);

/** In `full` a given list replaces, in `partial` it adds and updates; an absent one leaves. By key. */
function categoriesAfter(request: SyncRequest, categories: readonly LoadingCategory[]): LoadingCategory[] {
  const before = ownCategories(request, categories);
  if (request.categories === null) return before;
  const given = request.categories.map(({ key, label, whenToUse, sort }, place) => ({ source: request.source, key, label, whenToUse, sort: sort ?? place }));
  const kept = request.mode === 'partial' ? before : [];
  return [...new Map([...kept, ...given].map((category) => [category.key, category])).values()].sort((a, b) => byText(a.key, b.key));
}

interface Reader {
  readonly request: SyncRequest;
  readonly state: CatalogState;
  readonly rules: SyncRules;
  readonly categoryKeys: ReadonlySet<string>;
}

interface EntriesRead {
  readonly accepted: ReadonlyMap<string, Declaration>;
  readonly rejected: readonly Rejection[];
  /** Every name that the source still speaks of, rejected ones too: they are not missing. */
  readonly mentioned: ReadonlySet<string>;
}

function readEntries(reader: Reader): EntriesRead {
  const accepted = new Map<string, Declaration>();
  const rejected: Rejection[] = [];
  const mentioned = new Set<string>();
  reader.request.tools.forEach((entry, index) => {
    const given = isObject(entry) && typeof entry['name'] === 'string' ? entry['name'] : null;
    const name = given !== null && reader.request.namespace !== null ? `${reader.request.namespace}/${given}` : given;
    if (name !== null) mentioned.add(name);
    const read = readEntry(reader, entry, name, accepted);
    if (isFault(read)) rejected.push({ index, name: given, ...read });
    else accepted.set(read.name, read);
  });
  return { accepted, rejected, mentioned };
}

type Fault = Pick<Rejection, 'code' | 'message'>;

const isFault = (read: Declaration | Fault): read is Fault => 'code' in read;

function readEntry(reader: Reader, entry: unknown, name: string | null, accepted: ReadonlyMap<string, Declaration>): Declaration | Fault {
  if (name === null || !isObject(entry)) return { code: 'INVALID_NAME', message: '`name` must be a string' };
  const wrongName = nameFault(reader, name, accepted);
  if (wrongName !== null) return wrongName;
  try {
    const { format, namespace } = reader.request;
    const declaration = readDeclaration(entry, name, { format, defaultToolset: namespace ?? 'default' });
    return contentFault(reader, declaration) ?? declaration;
  } catch (error) {
    if (error instanceof FieldFault) return { code: 'INVALID_FIELD', message: error.message };
    throw error;
  }
}

/** Of two entries with one name the first valid one counts. */
function nameFault({ request, state }: Reader, name: string, accepted: ReadonlyMap<string, Declaration>): Fault | null {
  if (!isToolName(name)) return { code: 'INVALID_NAME', message: `\`name\` must match ${NAME.source}` };
  if (RESERVED.has(name)) return { code: 'RESERVED_NAME', message: `\`${name}\` is the name of a loader` };
  if (accepted.has(name)) return { code: 'DUPLICATE_NAME', message: `\`${name}\` stands in this sync already` };
  const owner = state.tools.get(name)?.source ?? request.source;
  return owner === request.source ? null : { code: 'NAME_OWNED_BY_OTHER_SOURCE', message: `\`${name}\` is declared by \`${owner}\`` };
}

/** In the order of {@link REJECTIONS}. */
const contentFault = (reader: Reader, declaration: Declaration): Fault | null =>
  categoryFault(reader, declaration) ?? declarationFault(declaration, reader.rules, reader.state.intentDelegates);

/** What today's rules say against a declaration, whoever else declares what; null where nothing. */
export const declarationFault = (declaration: Declaration, rules: SyncRules, intentDelegates: CatalogState['intentDelegates']): Fault | null =>
  schemaFault(rules, declaration) ?? expressionFault(rules, declaration) ?? delegateFault(intentDelegates, declaration);

function categoryFault({ categoryKeys }: Reader, { loadingCategory }: Declaration): Fault | null {
  if (loadingCategory === null || categoryKeys.has(loadingCategory)) return null;
  return { code: 'INVALID_FIELD', message: `\`loadingCategory\` names \`${loadingCategory}\`, which no source declares` };
}

/** What is wrong with a schema, or null. Its size is looked at before anything is done with it. */
export const judgeSchema = (schema: JsonObject, { checkSchema, limits }: SyncRules): string | null =>
  isLongerThan(JSON.stringify(schema), limits.schemaSize) ? `larger than ${limits.schemaSize} bytes` : checkSchema(schema);

/** What is wrong with a condition, or null. */
export const judgeCondition = (expression: string, { checkCondition, limits }: SyncRules): string | null =>
  isLongerThan(expression, limits.expressionSize) ? `longer than ${limits.expressionSize} bytes` : checkCondition(expression);

function schemaFault(rules: SyncRules, { inputSchema, outputSchema }: Declaration): Fault | null {
  for (const [at, schema] of [['inputSchema', inputSchema], ['outputSchema', outputSchema]] as const) {
    const message = schema === null ? null : judgeSchema(schema, rules);
    if (message !== null) return { code: 'INVALID_SCHEMA', message: `\`${at}\`: ${message}` };
  }
  return null;
}

function expressionFault(rules: SyncRules, { active, intent }: Declaration): Fault | null {
  for (const [at, expression] of [['active', active], ['intent.when', intent?.when ?? null]] as const) {
    const message = expression === null ? null : judgeCondition(expression, rules);
    if (message !== null) return { code: 'INVALID_EXPRESSION', message: `\`${at}\`: ${message}` };
  }
  return null;
}

function delegateFault(intentDelegates: CatalogState['intentDelegates'], { intent }: Declaration): Fault | null {
  const stray = intentDelegates === null ? undefined : intent?.delegates.find((word) => !intentDelegates.includes(word));
  return stray === undefined ? null : { code: 'UNKNOWN_DELEGATE', message: `\`intent.delegates\` uses \`${stray}\`, which the settings do not list` };
}

function removals({ source, mode, confirmRemovals }: SyncRequest, { tools }: CatalogState, mentioned: ReadonlySet<string>): Pick<SyncPlan, 'missing' | 'needsConfirmation'> {
  if (mode === 'partial') return { missing: [], needsConfirmation: false };
  const available = [...tools].filter(([, tool]) => tool.source === source && tool.available).map(([name]) => name);
  const missing = available.filter((name) => !mentioned.has(name)).sort(byText);
  return { missing, needsConfirmation: !confirmRemovals && missing.length > 5 && missing.length > available.length / 2 };
}

interface SortedOut extends Pick<SyncPlan, 'added' | 'restored' | 'updated' | 'unchanged'> {
  readonly changed: readonly Declaration[];
}

function sortOut(accepted: ReadonlyMap<string, Declaration>, { tools }: CatalogState): SortedOut {
  const lists = { added: [] as string[], restored: [] as string[], updated: [] as string[], unchanged: [] as string[] };
  const changed: Declaration[] = [];
  for (const [name, declaration] of [...accepted].sort(([a], [b]) => byText(a, b))) {
    const before = tools.get(name);
    const kind = before === undefined ? 'added' : !before.available ? 'restored' : equalJson(before.declaration, declaration) ? 'unchanged' : 'updated';
    lists[kind].push(name);
    if (kind !== 'unchanged') changed.push(declaration);
  }
  return { ...lists, changed };
}
