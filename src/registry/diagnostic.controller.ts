import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { DiagnosticAnswer } from '../core/diagnostic.js';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { ApiProblems, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { DiagnosticDto } from './diagnostic.dto.js';
import { diagnosticSchema } from './diagnostic.schema.js';
import { DiagnosticService } from './diagnostic.service.js';

const EXAMPLES = {
  'a read-only session without a shell': { value: { session: { cwd: '/w/project', workspaceRoots: ['/w'], allowShell: false, readonly: true } } },
  'one tool, without the network': { value: { session: { allowNetwork: false }, toolNames: ['web_search'] } },
};

@ApiTags('tools')
@Controller('v1/tools')
export class DiagnosticController {
  constructor(private readonly diagnostics: DiagnosticService) {}

  @Post('runtime-diagnostic')
  @HttpCode(200)
  @Access({ anyOf: ['governance:read'] })
  @ApiOperation({
    summary: 'Tell where tools would run in a session',
    description: 'Without any agent: the available tools that agents may know of, whatever their status, as for an agent that overrides nothing. It reads and decides nothing else. Scope `governance:read`.',
  })
  @ApiBody({ schema: diagnosticSchema(DEFAULT_LIMITS), examples: EXAMPLES })
  @ApiOkResponse({ description: 'all about running each tool', type: DiagnosticDto, headers: REVISION_HEADERS })
  @ApiProblems('INVALID_REQUEST')
  async diagnose(@Tenant() tenant: TenantId, @Body() body: unknown, @Res({ passthrough: true }) reply: FastifyReply): Promise<DiagnosticAnswer> {
    const answer = await this.diagnostics.diagnose(tenant, body);
    reply.header('x-toolcrib-revision', String(answer.revision));
    return answer;
  }
}
