import { DEFAULT_AGENT, DEFAULT_CONVERSATION } from './case-file.js';
import { isOfConversation, isOfOperator, isWhatIf } from './case-file.js';
import type { ConversationStep, OperatorStep, PlainStep, Step, WhatIfStep } from './case-file.js';
import type { World } from './case-runner.js';
import type { Answer, Caller, TestService } from './test-service.js';
import { newTenant } from './test-service.js';

type Json = Record<string, unknown>;

const seg = encodeURIComponent;

/** The running service, in a tenant of its own. */
export class HttpWorld implements World {
  private constructor(private readonly caller: Caller) {}

  static async open(service: TestService): Promise<HttpWorld> {
    return new HttpWorld((await newTenant(service)).caller);
  }

  async do(step: Step): Promise<Json> {
    const { status, body, headers } = await this.answer(step);
    if (status >= 400) return { error: body.code, detail: body.detail, ...(body['pending'] && { pending: body['pending'] }) };
    return { ...(body as Json | null), ...(step.action === 'converse' && { created: status === 201 }), ...(headers['x-toolcrib-revision'] && { revision: Number(headers['x-toolcrib-revision']) }) };
  }

  private answer(step: Step): Promise<Answer> {
    if (isOfOperator(step)) return this.operate(step);
    if (isWhatIf(step)) return this.whatIf(step);
    return isOfConversation(step) ? this.inConversation(step) : this.send(step);
  }

  private whatIf({ action, input }: WhatIfStep): Promise<Answer> {
    const { agentId = DEFAULT_AGENT, toolName = '', ...body } = input as { agentId?: string; toolName?: string };
    switch (action) {
      case 'preview':
        return this.caller.post(`/v1/agents/${seg(agentId)}/preview`, body);
      case 'explain':
        return this.caller.post(`/v1/agents/${seg(agentId)}/tools/${seg(toolName)}/explain`, body);
      case 'toolImpact':
        return this.caller.post(`/v1/tools/${seg(toolName)}/impact`, body);
      case 'settingsImpact':
        return this.caller.post('/v1/settings/impact', body);
    }
  }

  private send({ action, input }: PlainStep): Promise<Answer> {
    const { agentId = DEFAULT_AGENT, force, ...body } = input as { agentId?: string; force?: boolean };
    const { name, ...rest } = input as { name: string };
    switch (action) {
      case 'sync':
        return this.caller.post('/v1/tools/sync', { source: 'runtime', ...input });
      case 'put':
        return this.putAgent(agentId, body, force === true);
      case 'patch':
        return this.caller.write('patch', `/v1/agents/${seg(agentId)}`, body);
      case 'import':
        return this.caller.post('/v1/agents/import', input);
      case 'deleteAgent':
        return this.caller.send('delete', `/v1/agents/${seg(name)}`);
      case 'governance':
        return this.caller.write('patch', `/v1/tools/${seg(name)}`, rest);
      case 'deleteTool':
        return this.caller.send('delete', `/v1/tools/${seg(name)}`);
      case 'settings':
        return this.caller.write('patch', '/v1/settings', input);
      case 'decide':
        return this.caller.post('/v1/decide', { agentId, ...body });
      case 'check':
        return this.caller.post('/v1/check', { agentId, ...body });
      case 'search':
        return this.caller.post('/v1/search', { agentId, ...body });
      case 'registry':
        return this.caller.get('/v1/loading-registry');
    }
  }

  private inConversation({ action, input }: ConversationStep): Promise<Answer> {
    const { conversationId = DEFAULT_CONVERSATION, agentId = DEFAULT_AGENT, ...body } = input as { conversationId?: string; agentId?: string };
    const path = `/v1/conversations/${seg(conversationId)}/tool-loading`;
    switch (action) {
      case 'converse':
        return this.caller.send('put', path, { agentId, ...body });
      case 'conversation':
        return this.caller.get(path);
      case 'load':
        return this.caller.post(`${path}/load`, body);
      case 'compress':
        return this.caller.post(`${path}/compression`, undefined);
      case 'endConversation':
        return this.caller.send('delete', path);
    }
  }

  private operate({ action, input }: OperatorStep): Promise<Answer> {
    const { agentId = DEFAULT_AGENT, language = 'en', name = '', ...rest } = input as { agentId?: string; language?: string; name?: string };
    const agent = `/v1/agents/${seg(agentId)}`;
    const headers = { 'accept-language': language };
    switch (action) {
      case 'switch':
        return this.caller.send('put', `${agent}/tools/${seg(name)}/switch`, rest, headers);
      case 'history':
        return this.caller.get(`/v1/history?${new URLSearchParams(rest as Record<string, string>).toString()}`);
      case 'revert': {
        const { revision, ...body } = rest as { revision: number };
        return this.caller.post(`/v1/history/${revision}/revert`, body);
      }
      case 'bulk':
        return this.caller.post(`${agent}/actions/${seg(name)}`, undefined);
      case 'editor':
        return this.caller.get(`${agent}/tools?${new URLSearchParams(rest).toString()}`, headers);
      case 'diagnostic':
        return this.caller.post('/v1/tools/runtime-diagnostic', rest);
    }
  }

  private async putAgent(agentId: string, body: Json, force: boolean): Promise<Answer> {
    const { headers } = await this.caller.get(`/v1/agents/${seg(agentId)}`);
    return this.caller.send('put', `/v1/agents/${seg(agentId)}${force ? '?force=true' : ''}`, body, headers['etag'] === undefined ? {} : { 'if-match': headers['etag'] });
  }
}
