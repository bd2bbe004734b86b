import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiHeader, ApiLink, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { AgentRecord } from '../core/agent-document.js';
import { AgentDocumentDto, documentIn } from '../platform/http/agent-document.dto.js';
import type { Author } from '../platform/author.js';
import { ApiProblems, ETAG_HEADERS, IF_MATCH, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { etagOf } from '../platform/errors/etag.js';
import type { Page } from '../platform/http/page.dto.js';
import { lineSchema } from '../platform/http/field-rules.js';
import { PageQueryDto, limitOf, pageOf, placeOf } from '../platform/http/page.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, By, Tenant } from '../tenancy/access.js';
import type { Saved } from './agent-writer.js';
import { AgentDto, AgentPageDto, ImportAnswerDto, ImportDto, PutAgentQueryDto, SavedAgentDto } from './agents.dto.js';
import { AgentsService } from './agents.service.js';

export const agentView = ({ agentId, document, origin, updatedAt }: AgentRecord): object => ({ agentId, ...document, origin, updatedAt });

const savedView = ({ record, warnings, widening }: Saved) => ({ ...(record && agentView(record)), warnings, ...widening });

export const AGENT_PARAM = { name: 'agentId', description: 'the id of the agent', schema: { ...lineSchema(128), example: 'researcher' } };

const PUT_EXAMPLES = {
  'new form': { value: { displayName: 'Researcher', tools: { inheritCoreTools: true, enabled: ['web_search'], disabled: [] } } },
  'with sub-agents': { value: { tools: { enabled: ['web_search'] }, subagentConfig: { enabled: true, allowedToolNames: ['read_file'], allowedPresetAgentIds: ['explorer'] } } },
  'old form': { value: { toolsets: ['web'], tools: { disabled: [] } } },
};
const PATCH_EXAMPLES = {
  'close a tool': { value: { tools: { disabled: ['web_search'] } } },
  'open it again': { value: { tools: { disabled: [] } } },
  'a hint for one tool': { value: { toolOverrides: { web_search: { promptHint: 'Cite every page.' } } } },
};

@ApiTags('agents')
@Controller('v1/agents')
export class AgentsController {
  constructor(private readonly agents: AgentsService) {}

  @Get()
  @Access({ anyOf: ['governance:read'] })
  @ApiOperation({ summary: 'List agents', description: 'Their documents, by `agentId`. Scope `governance:read`.' })
  @ApiOkResponse({ description: 'a page of agents', type: AgentPageDto })
  @ApiProblems('INVALID_QUERY')
  async list(@Tenant() tenant: TenantId, @Query() query: PageQueryDto): Promise<Page<object>> {
    const limit = limitOf(query);
    const [after = null] = placeOf(query, ['string']) ?? [];
    const { items, nextCursor } = pageOf(await this.agents.list(tenant, after as string | null, limit + 1), limit, ({ agentId }) => [agentId]);
    return { items: items.map(agentView), nextCursor };
  }

  @Post('import')
  @HttpCode(200)
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({
    summary: 'Import agents of either form',
    description: 'Each document overwrites its agent, and each is judged by itself. `dryRun` shows what conversion of old documents would add and remove before anything is written. Scope `governance:write`.',
  })
  @ApiOkResponse({ description: 'what happened to every agent', type: ImportAnswerDto, headers: REVISION_HEADERS })
  async import(@By() by: Author, @Body() body: ImportDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const documents = body.agents.map((document) => ({ ...documentIn(document.agentId, document), agentId: document.agentId }));
    const { result, revision } = await this.agents.import(by, documents, { dryRun: body.dryRun ?? false, force: body.force ?? false });
    reply.header('x-toolcrib-revision', String(revision));
    const results = result.map(({ agentId, status, record, warnings, widening }) => ({
      agentId, status, document: record && agentView(record), added: widening?.added ?? [], removed: widening?.removed ?? [], warnings,
    }));
    return { revision, results };
  }

  @Get(':agentId')
  @Access({ anyOf: ['governance:read'] })
  @ApiOperation({ summary: 'Read an agent', description: 'Scope `governance:read`.' })
  @ApiParam(AGENT_PARAM)
  @ApiLink({ from: AgentPageDto, fromField: 'items/0/agentId', routeParam: 'agentId' })
  @ApiLink({ from: AgentDto, fromField: 'agentId', routeParam: 'agentId' })
  @ApiOkResponse({ description: 'the document', type: AgentDto, headers: ETAG_HEADERS })
  @ApiProblems('AGENT_NOT_FOUND')
  async get(@Tenant() tenant: TenantId, @Param('agentId') agentId: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const record = await this.agents.get(tenant, agentId);
    reply.header('etag', etagOf(record.revision));
    return agentView(record);
  }

  @Put(':agentId')
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({ summary: 'Make or replace an agent', description: 'A new one needs no `If-Match`, an existing one does. A document of the old form is converted once. Scope `governance:write`.' })
  @ApiParam(AGENT_PARAM)
  @ApiLink({ from: AgentDto, fromField: 'agentId', routeParam: 'agentId' })
  @ApiBody({ type: AgentDocumentDto, examples: PUT_EXAMPLES })
  @ApiHeader(IF_MATCH)
  @ApiOkResponse({ description: 'the document as it is saved', type: SavedAgentDto, headers: { ...ETAG_HEADERS, ...REVISION_HEADERS } })
  @ApiCreatedResponse({ description: 'the document as it is saved', type: SavedAgentDto, headers: { ...ETAG_HEADERS, ...REVISION_HEADERS } })
  @ApiProblems('INVALID_QUERY', 'UNKNOWN_TOOLSET', 'PRECONDITION_FAILED', 'IF_MATCH_REQUIRED', 'INVALID_REQUEST', 'LIMIT_EXCEEDED')
  async put(
    @By() by: Author,
    @Param('agentId') agentId: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Query() { force }: PutAgentQueryDto,
    @Body() body: AgentDocumentDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { result, revision } = await this.agents.put(by, agentId, ifMatch, documentIn(agentId, body), force === 'true');
    reply.status(result.created ? 201 : 200);
    return savedAnswer(reply, result, revision);
  }

  @Patch(':agentId')
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({ summary: 'Change parts of an agent', description: 'A JSON merge patch (RFC 7396): absent leaves, null takes away, lists are replaced. Scope `governance:write`.' })
  @ApiParam(AGENT_PARAM)
  @ApiLink({ from: AgentDto, fromField: 'agentId', routeParam: 'agentId' })
  @ApiBody({ type: AgentDocumentDto, examples: PATCH_EXAMPLES })
  @ApiHeader(IF_MATCH)
  @ApiOkResponse({ description: 'the document as it is saved', type: SavedAgentDto, headers: { ...ETAG_HEADERS, ...REVISION_HEADERS } })
  @ApiProblems('AGENT_NOT_FOUND', 'PRECONDITION_FAILED', 'IF_MATCH_REQUIRED')
  async patch(
    @By() by: Author,
    @Param('agentId') agentId: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() body: AgentDocumentDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { result, revision } = await this.agents.patch(by, agentId, ifMatch, documentIn(agentId, body));
    return savedAnswer(reply, result, revision);
  }

  @Delete(':agentId')
  @HttpCode(204)
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({ summary: 'Delete an agent', description: 'As a target of others it is gone as well. Scope `governance:write`.' })
  @ApiParam(AGENT_PARAM)
  @ApiLink({ from: AgentDto, fromField: 'agentId', routeParam: 'agentId' })
  @ApiNoContentResponse({ description: 'it is gone', headers: REVISION_HEADERS })
  @ApiProblems('AGENT_NOT_FOUND')
  async delete(@By() by: Author, @Param('agentId') agentId: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    const { revision } = await this.agents.delete(by, agentId);
    reply.header('x-toolcrib-revision', String(revision));
  }
}

/** The document as it is saved, with the state and the revision in the headers. */
export function savedAnswer(reply: FastifyReply, saved: Saved, revision: number): ReturnType<typeof savedView> {
  reply.headers({ 'x-toolcrib-revision': String(revision), ...(saved.record && { etag: etagOf(saved.record.revision) }) });
  return savedView(saved);
}
