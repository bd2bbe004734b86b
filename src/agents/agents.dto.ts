import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { DocumentMembersDto, SkillDto } from '../platform/http/agent-document.dto.js';
import { Flag, Line, NestedList, OneOf, Optional } from '../platform/http/field-rules.js';
import { WarningDto } from '../platform/http/warning.dto.js';

export class ImportedDocumentDto extends DocumentMembersDto {
  @ApiProperty({ description: 'the agent’s id', example: 'researcher' })
  @Line(128)
  agentId!: string;
}

export class ImportDto {
  @ApiPropertyOptional({ description: 'tells what would happen and writes nothing', type: 'boolean', nullable: true, default: false, example: true })
  @Optional()
  @Flag()
  dryRun?: boolean | null;

  @ApiPropertyOptional({ description: 'drops toolsets that are not known, with a warning, instead of blocking their agent', type: 'boolean', nullable: true, default: false, example: false })
  @Optional()
  @Flag()
  force?: boolean | null;

  @ApiProperty({ description: 'documents of either form; each overwrites its agent', type: [ImportedDocumentDto], example: [{ agentId: 'dba', toolsets: ['mysql'], tools: { disabled: [] } }] })
  @NestedList(() => ImportedDocumentDto)
  agents!: ImportedDocumentDto[];
}

export class PutAgentQueryDto {
  @ApiPropertyOptional({ description: 'for a document of the old form: drops toolsets that are not known instead of refusing', enum: ['true', 'false'], example: 'false' })
  @IsOptional()
  @OneOf(['true', 'false'])
  force?: string;
}

class SavedToolsDto {
  @ApiProperty({ description: 'whether the core tools come by themselves', example: true })
  inheritCoreTools!: boolean;

  @ApiProperty({ description: 'tools that the agent has beside the core ones', type: [String], example: ['web_search'] })
  enabled!: string[];

  @ApiProperty({ description: 'tools that are closed for the agent', type: [String], example: [] })
  disabled!: string[];
}

class SavedSubagentConfigDto {
  @ApiProperty({ description: 'whether the agent may have sub-agents at all', example: false })
  enabled!: boolean;

  @ApiProperty({ description: 'how many at once', type: 'integer', example: 1 })
  maxConcurrency!: number;

  @ApiProperty({ description: 'what sub-agents may use; null = no ceiling', type: [String], nullable: true, example: null })
  allowedToolNames!: string[] | null;

  @ApiProperty({ description: 'the agents that it may start', type: [String], example: [] })
  allowedPresetAgentIds!: string[];
}

/** A document in its normal form. */
export class AgentDto {
  @ApiProperty({ description: 'the agent’s id', example: 'researcher' })
  agentId!: string;

  @ApiProperty({ description: 'a name for people', example: 'Researcher' })
  displayName!: string;

  @ApiProperty({ description: 'what the agent has', type: SavedToolsDto })
  tools!: SavedToolsDto;

  @ApiProperty({ description: 'a ceiling: nothing outside it; null = none', type: [String], nullable: true, example: null })
  availableTools!: string[] | null;

  @ApiProperty({ description: 'from tool names to what this agent sees differently', type: 'object', additionalProperties: true, example: { web_search: { promptHint: 'Cite every page.' } } })
  toolOverrides!: object;

  @ApiProperty({ description: 'what the agent may start', type: SavedSubagentConfigDto })
  subagentConfig!: SavedSubagentConfigDto;

  @ApiProperty({ description: 'bound skills', type: [SkillDto] })
  skills!: SkillDto[];

  @ApiPropertyOptional({ description: 'of the old form, retained beside the new one; decides nothing', type: [String], example: ['web'] })
  toolsets?: string[];

  @ApiProperty({ description: '`legacy` until the first save that changes something', enum: ['native', 'legacy'], example: 'native' })
  origin!: string;

  @ApiProperty({ description: 'when it changed last', example: '2026-11-30T09:15:00.000Z', format: 'date-time' })
  updatedAt!: string;
}

export class SavedAgentDto extends AgentDto {
  @ApiProperty({ description: 'names that are not known and entries that do nothing', type: [WarningDto] })
  warnings!: WarningDto[];

  @ApiPropertyOptional({ description: 'for a document of the old form: tools that the agent has now and had not by the old rule', type: [String], example: ['todo_create'] })
  added?: string[];

  @ApiPropertyOptional({ description: 'for a document of the old form: tools that the agent had by the old rule and has not now', type: [String], example: [] })
  removed?: string[];
}

export class AgentPageDto {
  @ApiProperty({ description: 'by `agentId`', type: [AgentDto] })
  items!: AgentDto[];

  @ApiProperty({ description: 'for the next page; null at the end', type: 'string', nullable: true, example: null })
  nextCursor!: string | null;
}

export class ImportResultDto {
  @ApiProperty({ description: 'the agent’s id', example: 'dba' })
  agentId!: string;

  @ApiProperty({ description: 'what happened, or in a dry run would', enum: ['imported', 'unchanged', 'blocked'], example: 'imported' })
  status!: string;

  @ApiProperty({ description: 'the document afterwards; null for a blocked agent that is not there', type: AgentDto, nullable: true })
  document!: AgentDto | null;

  @ApiProperty({ description: 'tools that the agent has now and had not by the old rule', type: [String], example: ['todo_create'] })
  added!: string[];

  @ApiProperty({ description: 'tools that the agent had by the old rule and has not now', type: [String], example: [] })
  removed!: string[];

  @ApiProperty({ description: 'names that are not known and entries that do nothing', type: [WarningDto] })
  warnings!: WarningDto[];
}

export class ImportAnswerDto {
  @ApiProperty({ description: 'the revision afterwards: one more for each agent that changed', type: 'integer', example: 9 })
  revision!: number;

  @ApiProperty({ description: 'in the order of the request', type: [ImportResultDto] })
  results!: ImportResultDto[];
}
