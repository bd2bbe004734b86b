import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayUnique, IsIn, IsOptional, IsString } from 'class-validator';
import { CAPABILITIES, KINDS, ROLES, ROUTING_STRATEGIES, STATUSES, VISIBILITIES } from '../core/catalog.js';
import type { Governance } from '../core/catalog.js';
import { REJECTIONS } from '../core/sync-plan.js';
import type { RejectionCode } from '../core/sync-plan.js';
import { AList, Flag, FreeObjectWith, Line, NestedList, OneOf, Optional, Text, WholeNumber } from '../platform/http/field-rules.js';
import { PageQueryDto } from '../platform/http/page.dto.js';
import { WarningDto } from '../platform/http/warning.dto.js';

const INT32 = 2 ** 31;

export class CategoryDto {
  @ApiProperty({ description: 'names the category in `loadingCategory`', example: 'workflow' })
  @Line(128)
  key!: string;

  @ApiProperty({ description: 'a name for people and models', example: 'Workflows' })
  @Text()
  label!: string;

  @ApiProperty({ description: 'tells a model when these tools are worth loading', example: 'run or inspect a workflow' })
  @Text()
  whenToUse!: string;

  @ApiPropertyOptional({ description: 'its place; absent = its place in this list', type: 'integer', nullable: true, example: 0 })
  @Optional()
  @WholeNumber(-INT32, INT32 - 1)
  sort?: number | null;
}

const EXAMPLE_TOOL = {
  name: 'mysql_query',
  description: 'Run one read-only SQL statement.',
  toolset: 'mysql',
  kind: 'read',
  inputSchema: { type: 'object', properties: { sql: { type: 'string' } }, required: ['sql'] },
  runtime: { network: true, mainProcess: true },
};

export class SyncDto {
  @ApiProperty({ description: 'who declares these tools: a runtime, or one MCP server', example: 'agent-platform' })
  @Line(128)
  source!: string;

  @ApiPropertyOptional({ description: '`full` replaces what the source declares, `partial` only adds and updates', enum: ['full', 'partial'], default: 'full', nullable: true, example: 'full' })
  @Optional()
  @OneOf(['full', 'partial'])
  mode?: 'full' | 'partial' | null;

  @ApiPropertyOptional({ description: 'what the entries are: declarations of this API, or MCP `Tool` objects as `tools/list` returns them', enum: ['toolcrib', 'mcp'], default: 'toolcrib', nullable: true, example: 'toolcrib' })
  @Optional()
  @OneOf(['toolcrib', 'mcp'])
  format?: 'toolcrib' | 'mcp' | null;

  @ApiPropertyOptional({ description: 'stores every entry as `NAMESPACE/NAME`, and is the toolset of those that name none', type: 'string', nullable: true, example: null })
  @Optional()
  @Line(128)
  namespace?: string | null;

  @ApiPropertyOptional({ description: 'tells what would happen and writes nothing', type: 'boolean', default: false, nullable: true, example: false })
  @Optional()
  @Flag()
  dryRun?: boolean | null;

  @ApiPropertyOptional({ description: 'lets a full sync take away more than half of the source’s tools', type: 'boolean', default: false, nullable: true, example: false })
  @Optional()
  @Flag()
  confirmRemovals?: boolean | null;

  @ApiPropertyOptional({ description: 'loading categories; absent = the source’s stay as they are', type: [CategoryDto], nullable: true, example: [{ key: 'workflow', label: 'Workflows', whenToUse: 'run or inspect a workflow', sort: 0 }] })
  @Optional()
  @NestedList(() => CategoryDto)
  @ArrayUnique((category: CategoryDto | null) => category?.key, { message: '`categories` must not name a `key` twice' })
  categories?: CategoryDto[] | null;

  @ApiProperty({
    description: 'the tools; each entry is judged by itself, and only `name` and `description` are required (in `mcp` only `name`)',
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    example: [EXAMPLE_TOOL],
  })
  @AList()
  tools!: unknown[];
}

export class RejectionDto {
  @ApiProperty({ description: 'the place of the entry in `tools`', type: 'integer', example: 3 })
  index!: number;

  @ApiProperty({ description: 'its name as it was given; null where it was no string', type: 'string', nullable: true, example: 'bad name' })
  name!: string | null;

  @ApiProperty({ description: 'the first fault', enum: REJECTIONS, example: 'INVALID_NAME' })
  code!: RejectionCode;

  @ApiProperty({ description: 'the fault in words', example: '`name` must match ^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$' })
  message!: string;
}

export class SyncResultDto {
  @ApiProperty({ description: 'the revision afterwards; in a dry run the current one', type: 'integer', example: 7 })
  revision!: number;

  @ApiProperty({ description: 'whether nothing was written', example: false })
  dryRun!: boolean;

  @ApiProperty({ description: 'new tools, by name', type: [String], example: ['mysql_query'] })
  added!: string[];

  @ApiProperty({ description: 'tools whose declaration changed, by name', type: [String], example: [] })
  updated!: string[];

  @ApiProperty({ description: 'how many stayed as they were', type: 'integer', example: 41 })
  unchanged!: number;

  @ApiProperty({ description: 'tools that this sync made unavailable, by name', type: [String], example: [] })
  missing!: string[];

  @ApiProperty({ description: 'unavailable tools that are back, by name', type: [String], example: [] })
  restored!: string[];

  @ApiProperty({ description: 'entries that were refused, each alone', type: [RejectionDto] })
  rejected!: RejectionDto[];

  @ApiProperty({ description: 'what the caller should know before it goes on', type: [WarningDto] })
  warnings!: WarningDto[];
}

const EXTRA_RULES = { workerRoutingStrategy: ROUTING_STRATEGIES, allowInSubagent: 'boolean' } as const;

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
  @WholeNumber(-INT32, INT32)
  sort?: number | null;

  @ApiPropertyOptional({ description: 'routing and sub-agents; each member is overridden by itself', type: 'object', additionalProperties: true, nullable: true, example: { workerRoutingStrategy: 'main-process-proxy', allowInSubagent: false } })
  @Optional()
  @FreeObjectWith(EXTRA_RULES)
  extra?: Governance['extra'] | null;
}

export class RuntimeNeedsDto {
  @ApiProperty({ description: 'what the tool does to files', enum: ['none', 'read', 'write'], example: 'none' })
  filesystem!: string;

  @ApiProperty({ description: 'whether it runs commands', example: false })
  shell!: boolean;

  @ApiProperty({ description: 'whether it talks to the network', example: true })
  network!: boolean;

  @ApiProperty({ description: 'whether it only runs in the main process', example: true })
  mainProcess!: boolean;

  @ApiProperty({ type: [String], description: 'execution backends; reported, never decided on', example: ['local'] })
  operations!: string[];
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

  @ApiProperty({ description: 'the JSON Schema of its arguments', type: 'object', additionalProperties: true, example: EXAMPLE_TOOL.inputSchema })
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

const isOneOf = (values: readonly string[], name: string): PropertyDecorator => IsIn([...values], { message: `\`${name}\` must be one of ${values.join(', ')}` });

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
  @isOneOf(STATUSES, 'status')
  status?: string;

  @ApiPropertyOptional({ description: 'whether it is core', enum: ['true', 'false'], example: 'true' })
  @IsOptional()
  @isOneOf(['true', 'false'], 'core')
  core?: string;

  @ApiPropertyOptional({ description: 'what the model must be able to take in', enum: CAPABILITIES, example: 'vision' })
  @IsOptional()
  @isOneOf(CAPABILITIES, 'capability')
  capability?: string;

  @ApiPropertyOptional({ description: 'who may see it', enum: VISIBILITIES, example: 'tool' })
  @IsOptional()
  @isOneOf(VISIBILITIES, 'visibility')
  visibility?: string;

  @ApiPropertyOptional({ description: 'whether its source still declares it', enum: ['available', 'unavailable'], example: 'available' })
  @IsOptional()
  @isOneOf(['available', 'unavailable'], 'availability')
  availability?: string;
}
