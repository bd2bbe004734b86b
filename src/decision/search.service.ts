import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ConversationStates } from '../conversations/conversation-states.js';
import { offeredTools } from '../core/decide.js';
import { expose } from '../core/expose.js';
import type { CategoryCount, FoundTool } from '../core/find-tools.js';
import { findTools } from '../core/find-tools.js';
import { mark } from '../core/load-tools.js';
import type { SearchInput } from '../core/request.js';
import { presentOne } from '../core/present.js';
import { readSearchRequest } from '../core/request.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyViews } from '../policy/policy-views.js';
import { Subjects } from '../policy/subjects.js';
import { ToolRanker } from '../search/tool-ranker.js';
import type { Ground, WithMinRevision } from './grounds.js';
import { Grounds, offeringIn } from './grounds.js';
import { SearchDocuments } from './search-documents.js';

export interface SearchAnswer {
  readonly revision: number;
  readonly results: readonly (Omit<FoundTool, 'tool'> & { readonly definition: object | null })[];
  readonly total: number;
  readonly categories?: readonly CategoryCount[];
}

/** Tenants whose index is kept ready after a change. */
const MAX_SEARCHING = 1_000;
const PREPARE_AFTER_MS = 500;

@Injectable()
export class SearchService {
  private readonly documents = new SearchDocuments();
  private readonly preparing = new Set<TenantId>();
  private readonly searching = new LRUCache<TenantId, true>({ max: MAX_SEARCHING });

  constructor(
    private readonly grounds: Grounds,
    private readonly views: PolicyViews,
    private readonly conversations: ConversationStates,
    private readonly subjects: Subjects,
    private readonly ranker: ToolRanker,
  ) {}

  async search(tenant: TenantId, input: SearchInput & WithMinRevision): Promise<SearchAnswer> {
    this.searching.set(tenant, true);
    const request = readSearchRequest(input);
    const ground = this.grounds.hot(tenant, input) ?? await this.grounds.read(tenant, input);
    const { view } = ground;
    const subject = this.subjects.of(view, request.agentId, request.context);
    const offering = offeringIn(ground, request);
    const offered = offeredTools(subject);
    const ranked = await this.ranker.rank(this.documents.of(view, subject.agent), request.query, new Set(offered.map(({ name }) => name)));
    const { results, ...found } = findTools(ranked, expose(offered, subject, offering), subject, request.limit);
    await this.mark(tenant, ground, results);
    return { revision: view.revision, results: results.map(({ tool, ...result }) => ({ ...result, definition: presentOne(tool, subject, request.format) })), ...found };
  }

  /** The catalog of a tenant that searches may have changed: once its writes pause, the index is built ahead of the next search. */
  noteCommit(tenant: TenantId): void {
    if (!this.searching.has(tenant) || this.preparing.has(tenant)) return;
    const timer = setTimeout(() => {
      this.preparing.delete(tenant);
      // What can not be read now is read by the next search, which is told.
      this.views.get(tenant).then(({ view }) => this.ranker.prepare(this.documents.ofCatalog(view)), () => undefined);
    }, PREPARE_AFTER_MS);
    this.preparing.add(tenant);
    timer.unref();
  }

  /** What was found is callable from now on, so a search that can not note it does not answer. */
  private async mark(tenant: TenantId, { conversation: served }: Ground, results: readonly FoundTool[]): Promise<void> {
    const conversation = served?.conversation ?? null;
    const names = results.map(({ name }) => name);
    if (conversation === null || mark(conversation.state, names) === conversation.state) return;
    await this.conversations.change(tenant, conversation.conversationId, ({ state }) => ({ state: mark(state, names), result: true }));
  }
}
