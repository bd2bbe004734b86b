import { Body, Controller, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Drafts } from '../core/preview.js';
import type { Limits } from '../platform/config/config.js';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { AgentDocumentDto, documentIn } from '../platform/http/agent-document.dto.js';
import { ApiProblems, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { lineSchema } from '../platform/http/field-rules.js';
import { languageOf } from '../platform/http/request-context.js';
import { StrictValidationPipe } from '../platform/http/strict-validation.pipe.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { DRAFT_SCHEMAS, DraftToolOverrideDto, DraftsDto, PreviewDto } from './preview.dto.js';
import type { Preview } from './preview.service.js';
import { PreviewService } from './preview.service.js';
import { RequestReader } from './request-reader.js';
import { previewSchema, published } from './request.schema.js';

/** `shapes` checks what saving would check, by the same classes. */
export function draftsIn(agentId: string, { draft = null, draftAgentTools = null, draftToolOverride = null }: { readonly [K in keyof Drafts]?: unknown }, shapes: StrictValidationPipe): Drafts {
  const given = shapes.transform({ draft, draftAgentTools, draftToolOverride }, { type: 'body', metatype: DraftsDto }) as DraftsDto;
  return { draft: documentIn(agentId, given.draft ?? {}), draftAgentTools: given.draftAgentTools as Drafts['draftAgentTools'], draftToolOverride: given.draftToolOverride as Drafts['draftToolOverride'] };
}

@ApiTags('agents')
@ApiExtraModels(AgentDocumentDto, DraftToolOverrideDto)
@Access({ anyOf: ['governance:read'] })
@Controller('v1/agents/:agentId/preview')
export class PreviewController {
  private readonly shapes: StrictValidationPipe;

  constructor(
    private readonly previews: PreviewService,
    private readonly reader: RequestReader,
    @Inject(LIMITS) limits: Limits,
  ) {
    this.shapes = new StrictValidationPipe(limits);
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Decide as if a draft were saved',
    description: 'The body is that of decide without `agentId`, with drafts: `draft` is merged into the document, then `draftAgentTools` into `tools`, then the patch into `toolOverrides[toolName]`. The agent need not be saved yet. The answer is that of decide after the save, with what it would add and remove; nothing is written. Scope `governance:read`.',
  })
  @ApiParam({ name: 'agentId', description: 'the id of the agent, saved or not', schema: { ...lineSchema(128), example: 'researcher' } })
  @ApiBody({ schema: published(previewSchema(DEFAULT_LIMITS, DRAFT_SCHEMAS)) })
  @ApiOkResponse({ description: 'the decision as it would be', type: PreviewDto, headers: REVISION_HEADERS })
  @ApiProblems('UNKNOWN_TOOLSET', 'CONVERSATION_OF_OTHER_AGENT', 'INVALID_REQUEST', 'UNKNOWN_PARENT', 'LIMIT_EXCEEDED', 'REVISION_NOT_REACHED', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  async preview(@Tenant() tenant: TenantId, @Param('agentId') agentId: string, @Body() body: unknown, @Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<Preview> {
    const { draft, draftAgentTools, draftToolOverride, ...turn } = this.reader.readPreview(body);
    const drafts = draftsIn(agentId, { draft, draftAgentTools, draftToolOverride }, this.shapes);
    const answer = await this.previews.preview(tenant, { ...turn, agentId }, drafts, languageOf(request));
    reply.header('x-toolcrib-revision', String(answer.revision));
    return answer;
  }
}
