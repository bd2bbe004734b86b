import { Body, Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Explanation } from '../core/explain.js';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { ApiProblems, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { languageOf } from '../platform/http/request-context.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { ExplanationDto } from './explain.dto.js';
import { ExplainService } from './explain.service.js';
import { RequestReader } from './request-reader.js';
import { explainSchema, published } from './request.schema.js';

@ApiTags('agents')
@Access({ anyOf: ['governance:read'] })
@Controller('v1/agents/:agentId/tools/:name/explain')
export class ExplainController {
  constructor(
    private readonly explanations: ExplainService,
    private readonly reader: RequestReader,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Tell stage by stage why an agent has a tool or not',
    description: 'The body is that of decide without `agentId`; what is about the form of its answer alone has no bearing here. The trail is that of the very run that gives the verdict, with all that each stage looked at. Admins may ask for internal tools too: the verdict then says what a model is told, the trail what is so. Scope `governance:read`.',
  })
  @ApiParam({ name: 'agentId', description: 'the id of the agent', example: 'researcher' })
  @ApiParam({ name: 'name', description: 'the exact name; a `/` in it is sent as `%2F`', example: 'web_search' })
  @ApiBody({ schema: published(explainSchema(DEFAULT_LIMITS)) })
  @ApiOkResponse({ description: 'the trail', type: ExplanationDto, headers: REVISION_HEADERS })
  @ApiProblems('AGENT_NOT_FOUND', 'TOOL_NOT_FOUND', 'CONVERSATION_OF_OTHER_AGENT', 'INVALID_REQUEST', 'UNKNOWN_PARENT', 'REVISION_NOT_REACHED', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  async explain(
    @Tenant() tenant: TenantId,
    @Param('agentId') agentId: string,
    @Param('name') name: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Explanation> {
    const answer = await this.explanations.explain(tenant, name, { ...this.reader.readExplain(body), agentId }, languageOf(request));
    reply.header('x-toolcrib-revision', String(answer.revision));
    return answer;
  }
}
