import { LRUCache } from 'lru-cache';
import type { CatalogTool } from '../core/catalog.js';
import type { PolicyAgent, PolicyView } from '../core/policy-view.js';
import type { SearchDocument } from '../core/search.js';
import { searchDocumentOf } from '../core/search.js';

/** Agents with words of their own are few; each costs an index. */
const MAX_AGENTS = 50;

/**
 * What is searched in: one list a compiled catalog, the same object as long as no tool changes, so that its index is
 * built once. An agent that words some tools otherwise has a list of its own.
 */
export class SearchDocuments {
  private readonly byCatalog = new WeakMap<readonly CatalogTool[], readonly SearchDocument[]>();
  private readonly byAgent = new LRUCache<PolicyAgent, { readonly tools: readonly CatalogTool[]; readonly documents: readonly SearchDocument[] }>({ max: MAX_AGENTS });

  of(view: PolicyView, agent: PolicyAgent): readonly SearchDocument[] {
    return hasOwnWords(agent) ? this.ofAgent(view, agent) : this.ofCatalog(view);
  }

  ofCatalog({ tools }: PolicyView): readonly SearchDocument[] {
    const known = this.byCatalog.get(tools);
    if (known !== undefined) return known;
    const documents = tools.map((tool) => searchDocumentOf(tool));
    this.byCatalog.set(tools, documents);
    return documents;
  }

  private ofAgent({ tools }: PolicyView, agent: PolicyAgent): readonly SearchDocument[] {
    const known = this.byAgent.get(agent);
    if (known?.tools === tools) return known.documents;
    const documents = tools.map((tool) => searchDocumentOf(tool, agent.overrides.get(tool.name)));
    this.byAgent.set(agent, { tools, documents });
    return documents;
  }
}

const hasOwnWords = ({ overrides }: PolicyAgent): boolean => [...overrides.values()].some(({ label, description }) => label !== undefined || description !== undefined);
