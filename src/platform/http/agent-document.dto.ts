import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { AgentDocumentInput, ToolOverride } from '../../core/agent-document.js';
import type { JsonObject } from '../../core/json.js';
import { AppError } from '../errors/app-error.js';
import { Flag, FreeObjectWith, Line, NamesTo, Nested, NestedList, Optional, Text, Texts, WholeNumber, isLine } from './field-rules.js';
import { EXTRA_RULES } from './runtime-needs.dto.js';

export class AgentToolsDto {
  @ApiPropertyOptional({ description: 'whether the core tools come by themselves', type: 'boolean', nullable: true, default: true, example: true })
  @Optional()
  @Flag()
  inheritCoreTools?: boolean | null;

  @ApiPropertyOptional({ description: 'tools that the agent has beside the core ones', type: [String], nullable: true, example: ['web_search'] })
  @Optional()
  @Texts()
  enabled?: string[] | null;

  @ApiPropertyOptional({ description: 'tools that are closed for the agent; wins over `enabled`', type: [String], nullable: true, example: ['write_file'] })
  @Optional()
  @Texts()
  disabled?: string[] | null;
}

export class ToolOverrideDto {
  @ApiPropertyOptional({ description: 'a line for the system prompt; a blank one silences the hint', type: 'string', nullable: true, example: 'Cite every page.' })
  @Optional()
  @Text()
  promptHint?: string | null;

  @ApiPropertyOptional({ description: 'what the model reads of the tool', type: 'string', nullable: true, example: 'Search the open web.' })
  @Optional()
  @Text()
  description?: string | null;

  @ApiPropertyOptional({ description: 'a name for people', type: 'string', nullable: true, example: 'Web search' })
  @Optional()
  @Text()
  label?: string | null;

  @ApiPropertyOptional({ description: 'routing, and narrowing for sub-agents', nullable: true, example: { workerRoutingStrategy: 'main-process-proxy', allowInSubagent: false } })
  @Optional()
  @FreeObjectWith(EXTRA_RULES)
  extra?: ToolOverride['extra'] | null;
}

export class SubagentConfigDto {
  @ApiPropertyOptional({ description: 'whether the agent may have sub-agents at all', type: 'boolean', nullable: true, default: false, example: true })
  @Optional()
  @Flag()
  enabled?: boolean | null;

  @ApiPropertyOptional({ description: 'how many at once; handed through', type: 'integer', nullable: true, default: 1, example: 2 })
  @Optional()
  @WholeNumber(1, 1000)
  maxConcurrency?: number | null;

  @ApiPropertyOptional({ description: 'what sub-agents may use; null = no ceiling, `[]` = nothing', type: [String], nullable: true, example: ['read_file'] })
  @Optional()
  @Texts()
  allowedToolNames?: string[] | null;

  @ApiPropertyOptional({ description: 'the agents that it may start', type: [String], nullable: true, example: ['explorer'] })
  @Optional()
  @Texts()
  allowedPresetAgentIds?: string[] | null;
}

export class SkillDto {
  @ApiProperty({ description: 'the name of the bound skill', example: 'report' })
  @Line(200)
  name!: string;

  @ApiProperty({ description: 'its kind, as tools require it', example: 'compute' })
  @Line(200)
  entry!: string;
}

/** The members of a document of the new form, or of the old one: `toolsets`, and `tools` with `disabled` alone. */
@ApiExtraModels(ToolOverrideDto)
export class DocumentMembersDto {
  @ApiPropertyOptional({ description: 'a name for people; absent = the id', type: 'string', nullable: true, example: 'Researcher' })
  @Optional()
  @Text()
  displayName?: string | null;

  @ApiPropertyOptional({ description: 'what the agent has', type: AgentToolsDto, nullable: true, example: { inheritCoreTools: true, enabled: ['web_search'], disabled: [] } })
  @Optional()
  @Nested(() => AgentToolsDto)
  tools?: AgentToolsDto | null;

  @ApiPropertyOptional({ description: 'a ceiling: nothing outside it; null = none, `[]` = nothing', type: [String], nullable: true, example: null })
  @Optional()
  @Texts()
  availableTools?: string[] | null;

  @ApiPropertyOptional({ description: 'from tool names to what this agent sees differently', type: 'object', additionalProperties: { nullable: true, allOf: [{ $ref: getSchemaPath(ToolOverrideDto) }] }, nullable: true, example: { web_search: { promptHint: 'Cite every page.' } } })
  @Optional()
  @NamesTo(() => ToolOverrideDto)
  toolOverrides?: Record<string, ToolOverrideDto | null> | null;

  @ApiPropertyOptional({ description: 'what the agent may start', type: SubagentConfigDto, nullable: true, example: { enabled: true, allowedPresetAgentIds: ['explorer'] } })
  @Optional()
  @Nested(() => SubagentConfigDto)
  subagentConfig?: SubagentConfigDto | null;

  @ApiPropertyOptional({ description: 'bound skills', type: [SkillDto], nullable: true, example: [{ name: 'report', entry: 'compute' }] })
  @Optional()
  @NestedList(() => SkillDto)
  skills?: SkillDto[] | null;

  @ApiPropertyOptional({ description: 'of the old form: groups that were enabled as a whole; read once, when the document is converted', type: [String], nullable: true, example: ['mysql'] })
  @Optional()
  @Texts()
  toolsets?: string[] | null;

  @ApiPropertyOptional({ description: 'as it was read; ignored', example: 'native', type: 'string', nullable: true })
  @Optional()
  @Text()
  origin?: string | null;

  @ApiPropertyOptional({ description: 'as it was read; ignored', example: '2026-11-30T09:15:00.000Z', type: 'string', nullable: true })
  @Optional()
  @Text()
  updatedAt?: string | null;
}

export class AgentDocumentDto extends DocumentMembersDto {
  @ApiPropertyOptional({ description: 'the agent’s id; where it is sent it must be the one in the path', type: 'string', nullable: true, example: 'researcher' })
  @Optional()
  @Line(128)
  agentId?: string | null;
}

/** The members that a document is made of; what a reading adds to it is dropped again. */
export function documentIn(agentId: string, body: AgentDocumentDto): AgentDocumentInput & JsonObject {
  if (!isLine(agentId, 128)) throw new AppError('INVALID_REQUEST', 'an agent’s id has 1 to 128 characters and no control characters');
  const named = body.agentId ?? agentId;
  if (named !== agentId) {
    throw new AppError('INVALID_REQUEST', `\`agentId\` is \`${named}\`, and the path names \`${agentId}\``, [{ path: '/agentId', message: 'differs from the path' }]);
  }
  const { agentId: _, origin: __, updatedAt: ___, ...document } = body;
  return document;
}
