import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { GRANTED_STATES } from '../core/agent-state.js';
import { CAPABILITIES, KINDS } from '../core/catalog.js';
import { LOADERS } from '../core/expose.js';
import { ROUTES } from '../core/route.js';
import { REASONS, STAGES } from '../core/reason.js';
import { DEFINITIONS } from '../platform/http/definition.dto.js';
import { FieldFaultDto, ProblemDto } from '../platform/http/problem.dto.js';
import { DIAGNOSTIC_EXAMPLE, RuntimeDiagnosticDto, RuntimeProfileDto } from '../platform/http/runtime.dto.js';
import { ToolLoadingDto } from '../platform/http/tool-loading.dto.js';
import { WarningDto } from '../platform/http/warning.dto.js';

const CODES = Object.keys(REASONS);

export class IntentDto {
  @ApiProperty({ description: 'the words that it may delegate to', type: [String], example: ['read'] })
  delegates!: string[];
}

export class DecidedToolDto {
  @ApiProperty({ description: 'the exact name', example: 'mysql_query' })
  name!: string;

  @ApiProperty({ description: 'a name for people', example: 'Database query' })
  label!: string;

  @ApiProperty({ description: 'what models read of the tool; in the view `intent` the words of the intent', example: 'Run one read-only SQL statement.' })
  description!: string;

  @ApiProperty({ description: 'the group for display', example: 'mysql' })
  toolset!: string;

  @ApiProperty({ description: 'what the model must be able to take in', enum: CAPABILITIES, example: 'text' })
  capability!: string;

  @ApiProperty({ description: 'whether it only reads', enum: KINDS, example: 'read' })
  kind!: string;

  @ApiProperty({ description: 'whether agents inherit it', example: false })
  isCore!: boolean;

  @ApiProperty({ description: 'why the agent has it', enum: GRANTED_STATES, example: 'agent_enabled' })
  state!: string;

  @ApiPropertyOptional({ description: 'there when it takes part in intent recognition', type: IntentDto })
  intent?: IntentDto;
}

export class PromptHintDto {
  @ApiProperty({ description: 'the tool', example: 'web_search' })
  toolName!: string;

  @ApiProperty({ description: 'a line for the system prompt', example: 'Cite every page.' })
  hint!: string;
}

export class ReasonDto {
  @ApiProperty({ description: 'the primary reason', enum: CODES, example: 'GLOBALLY_DISABLED' })
  code!: string;

  @ApiProperty({ description: 'the stage that refused', enum: STAGES, example: 'global' })
  stage!: string;

  @ApiProperty({ description: 'safe to show a model; Chinese for `Accept-Language: zh`', example: 'the tool is stopped for every agent' })
  message!: string;
}

export class RouteDto {
  @ApiProperty({ description: 'where the tool runs in this session', enum: ROUTES, example: 'main-process-proxy' })
  route!: string;

  @ApiProperty({ description: 'everything that blocks it, the primary reason first', enum: CODES, isArray: true, example: [] })
  blockedReasons!: string[];
}

const mapOf = (type: new () => object) => ({ type: 'object', additionalProperties: { $ref: getSchemaPath(type) } }) as const;

@ApiExtraModels(ReasonDto, RuntimeProfileDto, RouteDto, RuntimeDiagnosticDto)
export class DecisionDto {
  @ApiProperty({ description: 'the agent', example: 'researcher' })
  agentId!: string;

  @ApiProperty({ description: 'the revision that it was decided from', type: 'integer', example: 7 })
  revision!: number;

  @ApiProperty({ description: '`stale` while the database can not be reached', enum: ['fresh', 'stale'], example: 'fresh' })
  freshness!: string;

  @ApiPropertyOptional({ description: 'how long ago a stale answer was certain to be current', type: 'integer', example: 1200 })
  staleForMs?: number;

  @ApiProperty({ description: 'allowed by configuration (stages 0 to 7)', type: [String], example: ['mysql_query', 'read_file'] })
  allowedTools!: string[];

  @ApiProperty({ description: 'allowed, and able to run in this session: what the agent has', type: [String], example: ['mysql_query', 'read_file'] })
  toolNames!: string[];

  @ApiProperty({ description: 'offered at once', type: [String], example: ['mysql_query', 'read_file'] })
  initialTools!: string[];

  @ApiProperty({ description: 'offered on demand', type: [String], example: [] })
  searchableTools!: string[];

  @ApiProperty({ description: 'loaders: there exactly when something is offered on demand', enum: LOADERS, isArray: true, example: [] })
  loaderTools!: string[];

  @ApiPropertyOptional({ description: 'the tools of `toolNames`', type: [DecidedToolDto] })
  tools?: DecidedToolDto[];

  @ApiPropertyOptional({ description: 'lines for the system prompt, of `toolNames` alone', type: [PromptHintDto] })
  toolPromptHints?: PromptHintDto[];

  @ApiPropertyOptional({ description: 'why each registered tool is not in `toolNames`', ...mapOf(ReasonDto), example: { run_shell: { code: 'GLOBALLY_DISABLED', stage: 'global', message: 'the tool is stopped for every agent' } } })
  disabledReasons?: object;

  @ApiPropertyOptional({ description: 'what each of `allowedTools` needs', ...mapOf(RuntimeProfileDto), example: { mysql_query: DIAGNOSTIC_EXAMPLE.profile } })
  effectiveRuntimeProfile?: object;

  @ApiPropertyOptional({ description: 'where each of `allowedTools` runs', ...mapOf(RouteDto), example: { mysql_query: { route: 'main-process-proxy', blockedReasons: [] } } })
  toolRuntimeRoutes?: object;

  @ApiPropertyOptional({ description: 'whether sub-agents of this agent could use each of `allowedTools`', type: 'object', additionalProperties: { type: 'boolean' }, example: { mysql_query: false } })
  effectiveSubagentAllowed?: object;

  @ApiPropertyOptional({ description: 'all about running each of `allowedTools`', ...mapOf(RuntimeDiagnosticDto), example: { mysql_query: DIAGNOSTIC_EXAMPLE } })
  runtimeDiagnostic?: object;

  @ApiProperty({ description: 'the state of the conversation; null without a snapshot and without a given one', type: ToolLoadingDto, nullable: true })
  toolLoading!: ToolLoadingDto | null;

  @ApiPropertyOptional({ description: 'what a model is given, in `format`: loaders, then `initialTools`', ...DEFINITIONS })
  definitions?: object[];

  @ApiProperty({ description: 'from aliases in `definitions` to names; changed ones only', type: 'object', additionalProperties: { type: 'string' }, example: {} })
  nameMap!: object;

  @ApiProperty({ description: 'what the caller should know', type: [WarningDto] })
  warnings!: WarningDto[];

  @ApiProperty({ description: 'why `toolNames` is empty: the commonest reason; null when it is not', enum: [...CODES, 'EMPTY_CATALOG', null], nullable: true, type: 'string', example: null })
  emptyReason!: string | null;
}

export class BatchItemDto {
  @ApiPropertyOptional({ description: 'the decision', type: DecisionDto })
  ok?: DecisionDto;

  @ApiPropertyOptional({ description: 'why there is none', type: ProblemDto })
  error?: ProblemDto;
}

export class BatchAnswerDto {
  @ApiProperty({ description: 'in the order of the requests', type: [BatchItemDto] })
  results!: BatchItemDto[];
}

export class CheckAnswerDto {
  @ApiProperty({ description: 'whether the call may be made now', example: true })
  allowed!: boolean;

  @ApiProperty({ description: '`OK`, or the primary reason', enum: ['OK', ...CODES], example: 'OK' })
  code!: string;

  @ApiProperty({ description: 'the stage that refused; null when none did', enum: [...STAGES, null], nullable: true, type: 'string', example: null })
  stage!: string | null;

  @ApiProperty({ description: 'safe to show a model; Chinese for `Accept-Language: zh`', example: 'the tool may be called' })
  message!: string;

  @ApiProperty({ description: 'where it runs; null unless it is allowed by configuration', type: RouteDto, nullable: true })
  route!: RouteDto | null;

  @ApiProperty({ description: 'the revision that it was decided from', type: 'integer', example: 7 })
  revision!: number;

  @ApiPropertyOptional({ description: 'the faults of the arguments', type: [FieldFaultDto] })
  errors?: FieldFaultDto[];
}
