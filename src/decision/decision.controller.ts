import { Body, Controller, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CheckAnswer } from '../core/decision.js';
import type { DecideInput } from '../core/request.js';
import type { Limits } from '../platform/config/config.js';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import { Problems, appErrorOf } from '../platform/errors/problems.js';
import { ANSWER_ETAG_HEADERS, ApiProblems, IF_NONE_MATCH, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { setHeaders } from '../platform/http/front.js';
import { languageOf } from '../platform/http/request-context.js';
import { Metrics } from '../platform/observability/metrics.js';
import { Tracing } from '../platform/observability/tracing.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import type { Answer, Asked } from './answers.js';
import { Answers, offersOf } from './answers.js';
import { tellWithin } from './batch-answer.js';
import { ColdAnswers } from './cold-answers.js';
import type { Asker } from './decision-log.js';
import { DecisionLog } from './decision-log.js';
import { outcomeOfCheck, spanOf } from './decision-span.js';
import { DECIDE_ACCESS } from './decision.access.js';
import { BatchAnswerDto, CheckAnswerDto, DecisionDto } from './decision.dto.js';
import { DecisionService } from './decision.service.js';
import type { WithMinRevision } from './grounds.js';
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
    private readonly tracing: Tracing,
    private readonly log: DecisionLog,
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
    return this.measured(this.metrics.decideSeconds, tenant, async (durationMs) => {
      const input = this.reader.readDecide(body);
      const asked = { language: languageOf(request), text: request.rawJson ?? '', ifNoneMatch: request.headers['if-none-match'] };
      const { answer, staleForMs } = await this.answerTo(tenant, input, asked);
      setHeaders(reply, answer.headers);
      void reply.code(answer.status).send(answer.body ?? undefined);
      const made = { revision: Number(answer.revision), outcome: answer.outcome, staleForMs };
      this.tracing.note(() => spanOf({ agentId: input.agentId, ...made, road: 'ordinary' }));
      this.log.note({ ...askerOf(tenant, request), ...made, asked: input, durationMs: durationMs(), content: answer.content });
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
    const told = tellWithin(this.limits.batchAnswerBytes, (error) => this.problems.of(error, request), ({ item, input, decided, startedAt }, content) => {
      const { ground: { view: { revision }, staleForMs } } = decided;
      this.log.note({ ...askerOf(tenant, request), item, asked: input, revision, staleForMs, durationMs: performance.now() - startedAt, outcome: offersOf(decided), content });
    });
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
    const { answer } = await this.measured(this.metrics.checkSeconds, tenant, async (durationMs) => {
      const input = this.reader.readCheck(body);
      const { answer: verdict, staleForMs } = await this.decisions.check(tenant, input, languageOf(request));
      const made = { revision: verdict.revision, staleForMs };
      const outcome = outcomeOfCheck(verdict);
      this.tracing.note(() => spanOf({ agentId: input.agentId, ...made, outcome, road: 'ordinary' }));
      this.log.note({ ...askerOf(tenant, request), ...made, asked: input, durationMs: durationMs(), toolName: input.toolName, verdict });
      return { answer: verdict, outcome };
    });
    reply.header('x-toolcrib-revision', String(answer.revision));
    return answer;
  }

  private async answerTo(tenant: TenantId, input: DecideInput & WithMinRevision, asked: Asked): Promise<{ answer: Answer; staleForMs: number }> {
    const shared = await this.cold.find(tenant, input, asked.language);
    if (shared !== null) return { answer: this.answers.shared(tenant, shared, asked), staleForMs: 0 };
    const decided = await this.decisions.decide(tenant, input, asked.language);
    return { answer: this.answers.of(tenant, decided, asked, input.conversationId), staleForMs: decided.ground.staleForMs };
  }

  private async measured<T extends { readonly outcome: string }>(durations: Metrics['decideSeconds'], tenant: TenantId, work: (durationMs: () => number) => Promise<T>): Promise<T> {
    const start = performance.now();
    const durationMs = (): number => performance.now() - start;
    let outcome = 'failed';
    try {
      const result = await work(durationMs);
      ({ outcome } = result);
      return result;
    } catch (error) {
      outcome = appErrorOf(error).code;
      throw error;
    } finally {
      durations.of(tenant, outcome).observe(durationMs() / 1000);
    }
  }
}

const askerOf = (tenant: TenantId, { id, raw, caller }: FastifyRequest): Asker => ({ tenant, keyId: caller?.keyId ?? null, requestId: id, traceId: raw.traceId, road: 'ordinary' });
