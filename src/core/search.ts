/** What a search may read of a tool. Ranking itself is a library's work, behind `search/tool-ranker.ts`. */
import type { CatalogTool } from './catalog.js';
import { isObject, own } from './json.js';
import type { JsonObject } from './json.js';

export interface SearchParameter {
  readonly name: string;
  /** With the words that the parameter may be, where its schema lists them. */
  readonly description: string;
}

/** One tool's texts, of bounded length whatever its source declared. */
export interface SearchDocument {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly toolset: string;
  readonly source: string;
  readonly category: string | null;
  readonly keywords: readonly string[];
  readonly parameters: readonly SearchParameter[];
}

/** A result: the higher the score, the better. Scores of two queries can not be compared. */
export interface Ranked {
  readonly name: string;
  readonly score: number;
}

/** In UTF-16 code units, but for the counts. A longer text is found by its beginning. */
const MOST = { name: 512, text: 8_192, keyword: 128, keywords: 64, parameters: 128, parameterName: 64, parameterText: 512, choices: 32, allParameters: 8_192 } as const;

const clip = (value: unknown, most: number): string => (typeof value === 'string' ? value.slice(0, most) : '');

/** The tool as it is searched: effective values, or what an agent calls it instead. */
export function searchDocumentOf({ name, record, effective }: CatalogTool, overrides: { readonly label?: string; readonly description?: string } = {}): SearchDocument {
  return {
    name,
    label: clip(overrides.label ?? effective.label, MOST.name),
    description: clip(overrides.description ?? effective.description, MOST.text),
    toolset: clip(effective.toolset, MOST.name),
    source: clip(record.source, MOST.name),
    category: effective.loadingCategory === null ? null : clip(effective.loadingCategory, MOST.name),
    keywords: effective.keywords.slice(0, MOST.keywords).map((keyword) => clip(keyword, MOST.keyword)),
    parameters: parametersOf(effective.inputSchema),
  };
}

/** The members of a schema and of its members' schemas, as many as are read. */
function parametersOf(schema: JsonObject): SearchParameter[] {
  const found: SearchParameter[] = [];
  let left: number = MOST.allParameters;
  for (const [name, member] of membersOf(schema).flatMap((top) => [top, ...nestedIn(top[1])])) {
    if (found.length === MOST.parameters || left <= 0) break;
    const parameter = { name: clip(name, MOST.parameterName), description: describe(member).slice(0, left) };
    left -= parameter.name.length + parameter.description.length;
    found.push(parameter);
  }
  return found;
}

type Member = readonly [name: string, schema: unknown];

function membersOf(schema: unknown): Member[] {
  const properties = isObject(schema) ? own(schema, 'properties') : undefined;
  return isObject(properties) ? Object.entries(properties).slice(0, MOST.parameters) : [];
}

const nestedIn = (schema: unknown): Member[] => (isObject(schema) ? [...membersOf(schema), ...membersOf(own(schema, 'items'))] : []);

function describe(schema: unknown): string {
  if (!isObject(schema)) return '';
  const choices = own(schema, 'enum');
  const words = Array.isArray(choices) ? choices.slice(0, MOST.choices).map((choice) => clip(choice, MOST.parameterName)) : [];
  return [clip(own(schema, 'description'), MOST.parameterText), ...words].join(' ').trim();
}
