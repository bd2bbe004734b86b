import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from './client.js';
import { Client, NoAnswer, revisionOf } from './client.js';
import { AGENTS, DEFERRABLE, QUESTIONS, any, inConversation, some } from './crib.js';
import type { Acknowledged, Claim, Failure, Loaded, Question, Read } from './record.js';
import { nextWrite } from './writes.js';

/** Where there is a replica right now. */
export type Urls = () => readonly string[];

/** Refusals that the state of things explains: another writer was there first, or a tool is stopped. */
const BY_STATE = new Set([404, 409, 412, 428]);
const PAUSE_AFTER_FAILURE_MS = 20;

/** One tenant's writers, readers and conversations, at full speed until told to stop; everything is written down. */
export class Load {
  readonly acknowledged: Acknowledged[] = [];
  readonly reads: Read[] = [];
  readonly loaded: Loaded[] = [];
  readonly failures: Failure[] = [];
  private readonly client = new Client();
  private readonly answers = new Map<string, { readonly etag: string; readonly text: string; readonly revision: number }>();
  private highest = 0;
  private isOver = false;

  constructor(
    readonly tenant: string,
    private readonly key: string,
    private readonly urls: Urls,
    /**
     * Written on one replica and read on the others, without a word on revisions: what is seen there is seen by itself. A
     * question that names a revision, or a write, brings its replica up to date for all who come after.
     */
    private readonly isApart: boolean,
  ) {}

  /** Resolves when all have stopped after {@link stop}. */
  async run(writers: number, readers: number): Promise<void> {
    const many = (count: number, work: () => Promise<void>): Promise<void>[] => Array.from({ length: count }, () => this.repeat(work));
    await Promise.all([...many(writers, () => this.write()), ...many(readers, () => this.read(any(QUESTIONS))), ...many(this.isApart ? 0 : 1, () => this.converse())]);
    this.client.close();
  }

  stop(): void {
    this.isOver = true;
  }

  private async repeat(work: () => Promise<void>): Promise<void> {
    while (!this.isOver) await work();
  }

  /** Null where there is nothing to go on with: that is written down here. */
  private async send(what: Failure['what'], method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply | null> {
    const url = this.urlFor(what);
    try {
      const reply = await this.client.send({ url, key: this.key, method, path, body, ...(headers && { headers }) });
      if (reply.status < 400) return reply;
      if (what !== 'plain read' && what !== 'other read' && BY_STATE.has(reply.status)) return null;
      this.failures.push({ what, url, askedAt: reply.askedAt, answeredAt: reply.answeredAt, status: reply.status, detail: reply.text.slice(0, 300) });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.failures.push({ what, url, askedAt: error.askedAt, answeredAt: error.answeredAt, status: 0, detail: error.code });
    }
    await sleep(PAUSE_AFTER_FAILURE_MS);
    return null;
  }

  private urlFor(what: Failure['what']): string {
    const [first, ...others] = this.urls();
    if (!this.isApart || first === undefined || others.length === 0) return any(this.urls());
    return what === 'write' ? first : any(others);
  }

  private async write(): Promise<void> {
    const { method, path, body, claim, isConditional } = nextWrite();
    const headers: Record<string, string> = { 'x-request-id': `soak-${Math.random().toString(36).slice(2)}` };
    if (isConditional) {
      const current = await this.send('write', 'GET', path);
      if (current === null) return;
      headers['if-match'] = current.headers.etag ?? '';
    }
    const reply = await this.send('write', method, path, body, headers);
    if (reply !== null) this.acknowledge(reply, headers['x-request-id'] ?? '', claim);
  }

  private acknowledge(reply: Reply, requestId: string, claim: Claim): void {
    const revision = revisionOf(reply);
    this.acknowledged.push({ revision, requestId, at: reply.answeredAt, claim });
    this.highest = Math.max(this.highest, revision);
  }

  /** Half of them (none of those apart) name the newest revision that is known; most decisions are asked whether they are still the same. */
  private async read(question: Question): Promise<void> {
    const minRevision = !this.isApart && Math.random() < 0.5 && this.highest > 0 ? this.highest : null;
    const body = { ...question.body, ...(minRevision !== null && { minRevision }) };
    const asked = JSON.stringify(body);
    const earlier = question.route === '/v1/decide' && Math.random() < 0.7 ? this.answers.get(asked) : undefined;
    const isPlain = minRevision === null && question.body.conversationId === undefined;
    const reply = await this.send(isPlain ? 'plain read' : 'other read', 'POST', question.route, body, earlier && { 'if-none-match': earlier.etag });
    if (reply === null) return;
    const { askedAt, answeredAt, status, headers } = reply;
    if (status !== 304) {
      this.reads.push({ question, minRevision, askedAt, answeredAt, revision: revisionOf(reply), is304: false, text: this.kept(asked, reply) });
    } else if (earlier === undefined) {
      this.failures.push({ what: 'other read', url: '', askedAt, answeredAt, status, detail: 'no earlier answer was named' });
    } else {
      const revision = headers['x-toolcrib-revision'] === undefined ? earlier.revision : revisionOf(reply);
      this.reads.push({ question, minRevision, askedAt, answeredAt, revision, is304: true, text: earlier.text });
    }
  }

  /** The text of an answer; the same text is kept once, for a run is long. */
  private kept(asked: string, reply: Reply): string {
    const earlier = this.answers.get(asked)?.text;
    const text = reply.text === earlier ? earlier : reply.text;
    if (reply.headers.etag !== undefined) this.remember(asked, { etag: reply.headers.etag, text, revision: revisionOf(reply) });
    return text;
  }

  /** Questions that name a revision come once; without a bound they would be all that is remembered. */
  private remember(asked: string, answer: { etag: string; text: string; revision: number }): void {
    if (this.answers.size > 2_000) this.answers.clear();
    this.answers.set(asked, answer);
  }

  /** Begun on one replica, loaded on another, decided on any. */
  private async converse(): Promise<void> {
    const agentId = any(AGENTS);
    const conversationId = `c-${Math.random().toString(36).slice(2)}`;
    const begun = await this.send('load', 'PUT', `/v1/conversations/${conversationId}/tool-loading`, { agentId });
    if (begun === null) return;
    for (let round = 0; round < 4 && !this.isOver; round += 1) {
      const toolNames = some(DEFERRABLE, 0.3);
      const reply = toolNames.length === 0 ? null : await this.tryLoad(conversationId, toolNames);
      if (reply !== null) this.loaded.push({ conversationId, names: reply.names, at: reply.at });
      await this.read(inConversation(agentId, conversationId));
      await sleep(any([0, 50, 1_100]));
      await this.read(inConversation(agentId, conversationId));
    }
  }

  private async tryLoad(conversationId: string, toolNames: readonly string[]): Promise<{ names: string[]; at: number } | null> {
    const url = any(this.urls());
    const path = `/v1/conversations/${conversationId}/tool-loading/load`;
    try {
      const reply = await this.client.send({ url, key: this.key, method: 'POST', path, body: { toolNames } });
      // None of the names is the agent's just now.
      if (reply.status === 422) return null;
      if (reply.status === 200) return { names: (JSON.parse(reply.text) as { loadedNow: string[] }).loadedNow, at: reply.answeredAt };
      this.failures.push({ what: 'load', url, askedAt: reply.askedAt, answeredAt: reply.answeredAt, status: reply.status, detail: reply.text.slice(0, 300) });
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.failures.push({ what: 'load', url, askedAt: error.askedAt, answeredAt: error.answeredAt, status: 0, detail: error.code });
    }
    return null;
  }
}
