import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiBody, ApiLink, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Impact } from '../core/impact.js';
import { ApiProblems, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { ImpactDto } from '../platform/http/impact.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { ToolImpactDto } from './tool-impact.dto.js';
import { ToolDto } from './tool.dto.js';
import { ToolImpactService } from './tool-impact.service.js';

const EXAMPLES = {
  'stop a tool for everybody': { value: { patch: { status: 'disabled' } } },
  'make it core': { value: { patch: { isCore: true } } },
  'keep it from sub-agents': { value: { patch: { extra: { allowInSubagent: false } }, contexts: [{ subagent: { parentAgentId: 'lead', depth: 1 } }] } },
};

@ApiTags('tools')
@Access({ anyOf: ['governance:read'] })
@Controller('v1/tools/:name/impact')
export class ToolImpactController {
  constructor(private readonly impacts: ToolImpactService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Tell which agents an override would give or take the tool',
    description: 'The patch is that of PATCH; every agent is decided for in every context as it is and as it would be. Nothing is written. Scope `governance:read`.',
  })
  @ApiLink({ from: ToolDto, fromField: 'name', routeParam: 'name' })
  @ApiParam({ name: 'name', description: 'the exact name; a `/` in it is sent as `%2F`', example: 'web_search' })
  @ApiBody({ type: ToolImpactDto, examples: EXAMPLES })
  @ApiOkResponse({ description: 'who would gain and lose it, and why', type: ImpactDto, headers: REVISION_HEADERS })
  @ApiProblems('TOOL_NOT_FOUND', 'INVALID_REQUEST', 'UNKNOWN_PARENT', 'LIMIT_EXCEEDED')
  async impact(@Tenant() tenant: TenantId, @Param('name') name: string, @Body() { patch, contexts }: ToolImpactDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<Impact> {
    const impact = await this.impacts.impact(tenant, name, patch, contexts);
    reply.header('x-toolcrib-revision', String(impact.revision));
    return impact;
  }
}
