/** What a search sees of a tool. */
import type { CatalogTool } from './catalog.js';
import { isObject, own } from './json.js';
import type { JsonObject } from './json.js';

export interface SearchDocument {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly toolset: string;
  readonly source: string;
  readonly category: string | null;
  readonly keywords: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly description: string }[];
}

/** A match; a higher score is better, comparable within one ranking alone. */
export interface Ranked {
  readonly name: string;
  readonly score: number;
}

/** With the agent's own words where it has some. */
export function searchDocumentOf({ name, record, effective }: CatalogTool, words: { readonly label?: string; readonly description?: string } = {}): SearchDocument {
  return {
    name,
    label: words.label ?? effective.label,
    description: words.description ?? effective.description,
    toolset: effective.toolset,
    source: record.source,
    category: effective.loadingCategory,
    keywords: effective.keywords,
    parameters: parametersOf(effective.inputSchema),
  };
}

function parametersOf(schema: JsonObject): { name: string; description: string }[] {
  const properties = own(schema, 'properties');
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, property]) => {
    const description = isObject(property) ? own(property, 'description') : undefined;
    return { name, description: typeof description === 'string' ? description : '' };
  });
}
