import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { CAPABILITIES, INT32, KINDS, ROLES, STATUSES, VISIBILITIES } from '../core/catalog.js';
import type { Governance } from '../core/catalog.js';
import { Flag, FreeObjectWith, OneOf, Optional, Text, WholeNumber } from '../platform/http/field-rules.js';
import { PageQueryDto } from '../platform/http/page.dto.js';
import { EXTRA_RULES, RuntimeNeedsDto } from '../platform/http/runtime-needs.dto.js';

const EXAMPLE_SCHEMA = { type: 'object', properties: { sql: { type: 'string' } }, required: ['sql'] };

/** Overrides: a value overrides, null takes the override back, absent leaves. */
export class GovernancePatchDto {
  @ApiPropertyOptional({ description: '`disabled` stops the tool for every agent', enum: STATUSES, nullable: true, example: 'disabled' })
  @Optional()
  @OneOf(STATUSES)
  status?: Governance['status'] | null;

  @ApiPropertyOptional({ description: 'whether agents inherit the tool', type: 'boolean', nullable: true, example: true })
  @Optional()
  @Flag()
  isCore?: boolean | null;

  @ApiPropertyOptional({ description: 'a core tool that can not be disabled is locked', type: 'boolean', nullable: true, example: true })
  @Optional()
  @Flag()
  canDisable?: boolean | null;

  @ApiPropertyOptional({ description: 'a name for people', type: 'string', nullable: true, example: 'Database query' })
  @Optional()
  @Text()
  label?: string | null;

  @ApiPropertyOptional({ description: 'what models read of the tool', type: 'string', nullable: true, example: 'Run one read-only SQL statement on the reporting database.' })
  @Optional()
  @Text()
  description?: string | null;

  @ApiPropertyOptional({ description: 'a line for the system prompt; a blank one silences the hint', type: 'string', nullable: true, example: 'Never select without a limit.' })
  @Optional()
  @Text()
  promptHint?: string | null;

  @ApiPropertyOptional({ description: 'the place in every list; the name decides between equals', type: 'integer', nullable: true, example: 5 })
  @Optional()
  @WholeNumber(INT32.min, INT32.max)
  sort?: number | null;

  @ApiPropertyOptional({ description: 'routing and sub-agents; each member is overridden by itself', nullable: true, example: { workerRoutingStrategy: 'main-process-proxy', allowInSubagent: false } })
  @Optional()
  @FreeObjectWith(EXTRA_RULES)
  extra?: Governance['extra'] | null;
}

export class DeclarationDto {
  @ApiProperty({ description: 'the exact, case-sensitive name', example: 'mysql_query' })
  name!: string;

  @ApiProperty({ description: 'a name for people', example: 'Database query' })
  label!: string;

  @ApiProperty({ description: 'what models read of the tool', example: 'Run one read-only SQL statement.' })
  description!: string;

  @ApiProperty({ description: 'groups for display; authorises nothing', example: 'mysql' })
  toolset!: string;

  @ApiProperty({ description: 'an internal tool is never shown to an agent', enum: VISIBILITIES, example: 'tool' })
  visibility!: string;

  @ApiProperty({ description: 'what the model must be able to take in', enum: CAPABILITIES, example: 'text' })
  capability!: string;

  @ApiProperty({ description: 'whether it only reads', enum: KINDS, example: 'read' })
  kind!: string;

  @ApiProperty({ description: 'a `delegate` hands over to one agent, a `spawn` tool starts any of several', enum: ROLES, example: 'ordinary' })
  role!: string;

  @ApiProperty({ description: 'the agent behind a delegate', type: 'string', nullable: true, example: null })
  targetAgentId!: string | null;

  @ApiProperty({ description: 'the argument of a spawn tool that names the agent; null = `agent_id`', type: 'string', nullable: true, example: null })
  targetArgument!: string | null;

  @ApiProperty({ description: 'whether agents inherit it', example: false })
  isCore!: boolean;

  @ApiProperty({ description: 'a core tool that can not be disabled is locked', example: true })
  canDisable!: boolean;

  @ApiProperty({ description: '`disabled` stops the tool for every agent', enum: STATUSES, example: 'enabled' })
  status!: string;

  @ApiProperty({ description: 'the place in every list', type: 'integer', example: 0 })
  sort!: number;

  @ApiProperty({ description: 'whether a prompt hint is given at all', example: true })
  supportsPromptHint!: boolean;

  @ApiProperty({ description: 'a line for the system prompt', type: 'string', nullable: true, example: 'Never select without a limit.' })
  promptHint!: string | null;

  @ApiProperty({ type: [String], description: 'null fits every scene, an empty list none', nullable: true, example: null })
  scenes!: string[] | null;

  @ApiProperty({ description: 'a CEL condition; null = always', type: 'string', nullable: true, example: 'attributes.features.db == true' })
  active!: string | null;

  @ApiProperty({ description: 'the kind of skill that must be bound', type: 'string', nullable: true, example: null })
  requiresSkillEntry!: string | null;

  @ApiProperty({ description: 'its part in intent recognition; null = none', type: 'object', additionalProperties: true, nullable: true, example: null })
  intent!: object | null;

  @ApiProperty({ description: 'the group in which it may be deferred; null = never', type: 'string', nullable: true, example: 'workflow' })
  loadingCategory!: string | null;

  @ApiProperty({ type: [String], description: 'words for search alone, in any language', example: ['sql', '数据库'] })
  keywords!: string[];

  @ApiProperty({ description: 'the JSON Schema of its arguments', type: 'object', additionalProperties: true, example: EXAMPLE_SCHEMA })
  inputSchema!: object;

  @ApiProperty({ description: 'the JSON Schema of its results', type: 'object', additionalProperties: true, nullable: true, example: null })
  outputSchema!: object | null;

  @ApiProperty({ description: 'what the source says besides; handed through, never decided on', type: 'object', additionalProperties: true, example: { readOnlyHint: true } })
  annotations!: object;

  @ApiProperty({ description: 'what it needs of a session', type: RuntimeNeedsDto })
  runtime!: RuntimeNeedsDto;

  @ApiProperty({ description: 'how a page shows its results', type: 'object', additionalProperties: true, nullable: true, example: { key: 'sql-table', capabilities: ['table'] } })
  renderer!: object | null;

  @ApiProperty({ description: 'routing and sub-agents', type: 'object', additionalProperties: true, example: { workerRoutingStrategy: 'auto', allowInSubagent: true } })
  extra!: object;
}

export class ToolDto {
  @ApiProperty({ description: 'the exact, case-sensitive name', example: 'mysql_query' })
  name!: string;

  @ApiProperty({ description: 'who declares it', example: 'agent-platform' })
  source!: string;

  @ApiProperty({ description: 'whether its source still declares it', enum: ['available', 'unavailable'], example: 'available' })
  availability!: 'available' | 'unavailable';

  @ApiProperty({ description: 'what the source says, defaults filled in', type: DeclarationDto })
  declaration!: DeclarationDto;

  @ApiProperty({ description: 'the overrides that ops set; empty = none', type: 'object', additionalProperties: true, example: { sort: 5 } })
  governance!: object;

  @ApiProperty({ description: 'override, else declaration: what decides', type: DeclarationDto })
  effective!: DeclarationDto;
}

export class ToolPageDto {
  @ApiProperty({ description: 'by (effective `sort`, `name`)', type: [ToolDto] })
  items!: ToolDto[];

  @ApiProperty({ description: 'for the next page; null at the end', type: 'string', nullable: true, example: null })
  nextCursor!: string | null;
}

export class ToolsetDto {
  @ApiProperty({ description: 'the name of the group', example: 'mysql' })
  toolset!: string;

  @ApiProperty({ description: 'available tools that agents may know of', type: 'integer', example: 4 })
  total!: number;

  @ApiProperty({ description: 'those of them that are core', type: 'integer', example: 0 })
  core!: number;
}

export class ToolsetsDto {
  @ApiProperty({ description: 'by name', type: [ToolsetDto] })
  items!: ToolsetDto[];
}

/** Filters are on effective values, and all of them must hold. */
export class ToolQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ description: 'a part of the name, label or description, whatever its case', example: 'query' })
  @IsOptional()
  @IsString({ message: '`search` must be given once' })
  search?: string;

  @ApiPropertyOptional({ description: 'the group', example: 'mysql' })
  @IsOptional()
  @IsString({ message: '`toolset` must be given once' })
  toolset?: string;

  @ApiPropertyOptional({ description: 'who declares it', example: 'agent-platform' })
  @IsOptional()
  @IsString({ message: '`source` must be given once' })
  source?: string;

  @ApiPropertyOptional({ description: 'the global status', enum: STATUSES, example: 'enabled' })
  @IsOptional()
  @OneOf(STATUSES)
  status?: string;

  @ApiPropertyOptional({ description: 'whether it is core', enum: ['true', 'false'], example: 'true' })
  @IsOptional()
  @OneOf(['true', 'false'])
  core?: string;

  @ApiPropertyOptional({ description: 'what the model must be able to take in', enum: CAPABILITIES, example: 'vision' })
  @IsOptional()
  @OneOf(CAPABILITIES)
  capability?: string;

  @ApiPropertyOptional({ description: 'who may see it', enum: VISIBILITIES, example: 'tool' })
  @IsOptional()
  @OneOf(VISIBILITIES)
  visibility?: string;

  @ApiPropertyOptional({ description: 'whether its source still declares it', enum: ['available', 'unavailable'], example: 'available' })
  @IsOptional()
  @OneOf(['available', 'unavailable'])
  availability?: string;
}

export class LoadingGroupDto {
  @ApiProperty({ description: 'the key of the category', example: 'workflow' })
  key!: string;

  @ApiProperty({ description: 'its name for people', example: 'Workflows' })
  label!: string;

  @ApiProperty({ description: 'when a model should load from it', example: 'run or inspect a workflow' })
  whenToUse!: string;

  @ApiProperty({ description: 'by (effective `sort`, `name`), available or not', type: [String], example: ['list_workflows'] })
  tools!: string[];
}

export class LoadingRegistryDto {
  @ApiProperty({ description: 'the categories that have tools, by (`sort`, `key`)', type: [LoadingGroupDto] })
  items!: LoadingGroupDto[];
}
