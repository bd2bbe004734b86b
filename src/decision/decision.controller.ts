import { Body, Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CheckAnswer } from '../core/decision.js';
import type { Limits } from '../platform/config/config.js';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { Problems, appErrorOf } from '../platform/errors/problems.js';
import { ANSWER_ETAG_HEADERS, ApiProblems, IF_NONE_MATCH, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { languageOf } from '../platform/http/request-context.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { Answers } from './answers.js';
import { tellWithin } from './batch-answer.js';
import { ColdAnswers } from './cold-answers.js';
import { DECIDE_ACCESS } from './decision.access.js';
import { BatchAnswerDto, CheckAnswerDto, DecisionDto } from './decision.dto.js';
import { DecisionService } from './decision.service.js';
import { RequestReader } from './request-reader.js';
import { batchSchema, checkSchema, decideSchema, published } from './request.schema.js';

const LANGUAGE_NOTE = 'Messages are Chinese for `Accept-Language: zh`, else English. Scope `decide`.';

@ApiTags('decisions')
@Access(DECIDE_ACCESS)
@Controller('v1')
export class DecisionController {
  constructor(
    private readonly decisions: DecisionService,
    private readonly reader: RequestReader,
    private readonly answers: Answers,
    private readonly cold: ColdAnswers,
    private readonly problems: Problems,
    private readonly metrics: Metrics,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  @Post('decide')
  @HttpCode(200)
  @ApiOperation({ summary: 'Decide which tools an agent has in this turn', description: `Deterministic: the same revision and request give the same bytes. ${LANGUAGE_NOTE}` })
  @ApiBody({ schema: published(decideSchema(DEFAULT_LIMITS)) })
  @ApiOkResponse({ description: 'the decision', type: DecisionDto, headers: { ...REVISION_HEADERS, ...ANSWER_ETAG_HEADERS } })
  @ApiHeader(IF_NONE_MATCH)
  @ApiResponse({ status: 304, description: 'the answer is the one that `If-None-Match` names', headers: { ...REVISION_HEADERS, ...ANSWER_ETAG_HEADERS } })
  @ApiProblems('AGENT_NOT_FOUND', 'CONVERSATION_OF_OTHER_AGENT', 'INVALID_REQUEST', 'UNKNOWN_PARENT', 'LIMIT_EXCEEDED', 'REVISION_NOT_REACHED', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  decide(@Tenant() tenant: TenantId, @Body() body: unknown, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.measured(this.metrics.decideSeconds, tenant, async () => {
      const language = languageOf(request);
      const input = this.reader.readDecide(body);
      const asked = { language, text: request.rawJson ?? '', ifNoneMatch: request.headers['if-none-match'] };
      const shared = await this.cold.find(tenant, input, language);
      const answer = shared === null ? this.answers.of(tenant, await this.decisions.decide(tenant, input, language), asked, input.conversationId) : this.answers.shared(tenant, shared, asked);
      for (let i = 0; i + 1 < answer.headers.length; i += 2) reply.header(answer.headers[i] ?? '', answer.headers[i + 1]);
      void reply.code(answer.status).send(answer.body ?? undefined);
      return answer;
    }).then(() => undefined);
  }

  @Post('decide/batch')
  @HttpCode(200)
  @ApiOperation({ summary: 'Decide many requests at once', description: `Each is answered in its place, the failed ones too. ${LANGUAGE_NOTE}` })
  @ApiBody({ schema: batchSchema(DEFAULT_LIMITS) })
  @ApiOkResponse({ description: 'the answers', type: BatchAnswerDto })
  @ApiProblems('INVALID_REQUEST', 'LIMIT_EXCEEDED')
  async batch(@Tenant() tenant: TenantId, @Body() body: unknown, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const requests = this.reader.readBatch(body).map((item) => () => this.reader.readDecide(item));
    const told = tellWithin(this.limits.batchAnswerBytes, (error) => this.problems.of(error, request.id));
    const results = await this.decisions.decideAll(tenant, requests, languageOf(request), told);
    void reply.header('content-type', 'application/json; charset=utf-8').send(`{"results":[${results.join(',')}]}`);
  }

  @Post('check')
  @HttpCode(200)
  @ApiOperation({ summary: 'Check one call before it is made', description: `Re-decides with the same function, then judges the arguments. Always 200 when the question can be answered. ${LANGUAGE_NOTE}` })
  @ApiBody({ schema: published(checkSchema(DEFAULT_LIMITS)) })
  @ApiOkResponse({ description: 'the verdict', type: CheckAnswerDto, headers: REVISION_HEADERS })
  @ApiProblems('AGENT_NOT_FOUND', 'CONVERSATION_OF_OTHER_AGENT', 'INVALID_REQUEST', 'UNKNOWN_PARENT', 'LIMIT_EXCEEDED', 'REVISION_NOT_REACHED', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  async check(@Tenant() tenant: TenantId, @Body() body: unknown, @Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<CheckAnswer> {
    const { answer } = await this.measured(this.metrics.checkSeconds, tenant, async () => {
      const answered = await this.decisions.check(tenant, this.reader.readCheck(body), languageOf(request));
      return { answer: answered, outcome: answered.allowed ? 'allowed' : 'refused' };
    });
    reply.header('x-toolcrib-revision', String(answer.revision));
    return answer;
  }

  private async measured<T extends { readonly outcome: string }>(durations: Metrics['decideSeconds'], tenant: TenantId, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    let outcome = 'failed';
    try {
      const result = await work();
      ({ outcome } = result);
      return result;
    } catch (error) {
      outcome = appErrorOf(error).code;
      throw error;
    } finally {
      durations.of(tenant, outcome).observe((performance.now() - start) / 1000);
    }
  }
}
