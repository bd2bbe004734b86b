import { ApiProperty } from '@nestjs/swagger';
import { RESULTS } from '../core/explain.js';
import { ORIGINS } from '../core/facts.js';
import { REASONS, STAGES } from '../core/reason.js';
import { RouteDto } from './decision.dto.js';

const CODES = Object.keys(REASONS);

export class VerdictDto {
  @ApiProperty({ description: 'whether the tool may be called now', example: false })
  allowed!: boolean;

  @ApiProperty({ description: '`OK`, or the primary reason as check tells it', enum: ['OK', ...CODES], example: 'AGENT_DISABLED' })
  code!: string;

  @ApiProperty({ description: 'the stage that refused; null when none did', enum: [...STAGES, null], nullable: true, type: 'string', example: 'agent' })
  stage!: string | null;

  @ApiProperty({ description: 'one sentence, safe to show a model; Chinese for `Accept-Language: zh`', example: 'the tool is closed for this agent' })
  message!: string;
}

export class FactDto {
  @ApiProperty({ description: 'whose word it is: the agent’s document, its parent’s, what ops override, what the source declares, the settings, the context, the rest of the request, the conversation; or it was worked out', enum: ORIGINS, example: 'agent' })
  from!: string;

  @ApiProperty({ description: 'where it stands there, as a JSON Pointer', example: '/tools/disabled' })
  path!: string;

  @ApiProperty({ description: 'what was looked up there; null where the value itself was read', type: 'string', nullable: true, example: 'web_search' })
  of!: string | null;

  @ApiProperty({
    description: 'what was read; or, with `of`, whether it was found',
    oneOf: [{ type: 'boolean' }, { type: 'string' }, { type: 'number' }, { type: 'array', items: { type: 'string' } }, { type: 'null' }],
    example: true,
  })
  value!: unknown;
}

export class StepDto {
  @ApiProperty({ description: 'the stage', enum: STAGES, example: 'agent' })
  stage!: string;

  @ApiProperty({ description: 'what it said; after a refusal no stage is reached', enum: RESULTS, example: 'refused' })
  result!: string;

  @ApiProperty({ description: 'why it refused; `INTERNAL_TOOL` is told here as it is', enum: [...CODES, null], nullable: true, type: 'string', example: 'AGENT_DISABLED' })
  code!: string | null;

  @ApiProperty({ description: 'everything that it looked at, in that order', type: [FactDto] })
  facts!: FactDto[];
}

export class ExplanationDto {
  @ApiProperty({ description: 'the agent', example: 'researcher' })
  agentId!: string;

  @ApiProperty({ description: 'the tool', example: 'web_search' })
  toolName!: string;

  @ApiProperty({ description: 'the revision that it was decided from', type: 'integer', example: 7 })
  revision!: number;

  @ApiProperty({ description: 'what check would answer', type: VerdictDto })
  verdict!: VerdictDto;

  @ApiProperty({ description: 'where it runs; null unless it is allowed by configuration', type: RouteDto, nullable: true })
  route!: RouteDto | null;

  @ApiProperty({ description: 'every stage from `registered` to `exposure`, in order', type: [StepDto] })
  trail!: StepDto[];
}
