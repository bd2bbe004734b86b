import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { ApiProblems, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { DECIDE_ACCESS } from './decision.access.js';
import { RequestReader } from './request-reader.js';
import { published, searchSchema } from './request.schema.js';
import { SearchAnswerDto } from './search.dto.js';
import type { SearchAnswer } from './search.service.js';
import { SearchService } from './search.service.js';

@ApiTags('decisions')
@Access(DECIDE_ACCESS)
@Controller('v1/search')
export class SearchController {
  constructor(
    private readonly searches: SearchService,
    private readonly reader: RequestReader,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Search among the tools that an agent has in this turn',
    description: 'What `tool_search` does: only what decide would offer is looked at, then ranked, then cut. With a conversation every result is marked there and callable from then on. Scope `decide`.',
  })
  @ApiBody({ schema: published(searchSchema(DEFAULT_LIMITS)) })
  @ApiOkResponse({ description: 'what was found', type: SearchAnswerDto, headers: REVISION_HEADERS })
  @ApiProblems('AGENT_NOT_FOUND', 'CONVERSATION_OF_OTHER_AGENT', 'INVALID_REQUEST', 'UNKNOWN_PARENT', 'LIMIT_EXCEEDED', 'REVISION_NOT_REACHED', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  async search(@Tenant() tenant: TenantId, @Body() body: unknown, @Res({ passthrough: true }) reply: FastifyReply): Promise<SearchAnswer> {
    const answer = await this.searches.search(tenant, this.reader.readSearch(body));
    reply.header('x-toolcrib-revision', String(answer.revision));
    return answer;
  }
}
