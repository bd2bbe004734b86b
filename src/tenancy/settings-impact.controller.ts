import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Impact } from '../core/impact.js';
import { ApiProblems, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { ImpactDto } from '../platform/http/impact.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from './access.js';
import { SettingsImpactDto } from './settings-impact.dto.js';
import { SettingsImpactService } from './settings-impact.service.js';

const EXAMPLES = {
  'no delegation at all': { value: { patch: { maxSubagentDepth: 0 } } },
  'children within their parent': { value: { patch: { childWithinParent: true }, contexts: [{ subagent: { parentAgentId: 'lead', depth: 1 } }] } },
};

@ApiTags('settings')
@Access({ anyOf: ['governance:read'] })
@Controller('v1/settings/impact')
export class SettingsImpactController {
  constructor(private readonly impacts: SettingsImpactService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Tell which agents other settings would give or take which tools',
    description: 'The patch is that of PATCH. Only `maxSubagentDepth` and, for sub-agents, `childWithinParent` give or take a tool; what is about exposure changes when a tool is offered, not whether. Nothing is written. Scope `governance:read`.',
  })
  @ApiBody({ type: SettingsImpactDto, examples: EXAMPLES })
  @ApiOkResponse({ description: 'who would gain and lose what, and why', type: ImpactDto, headers: REVISION_HEADERS })
  @ApiProblems('INVALID_REQUEST', 'UNKNOWN_PARENT')
  async impact(@Tenant() tenant: TenantId, @Body() { patch, contexts }: SettingsImpactDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<Impact> {
    const impact = await this.impacts.impact(tenant, patch, contexts);
    reply.header('x-toolcrib-revision', String(impact.revision));
    return impact;
  }
}
