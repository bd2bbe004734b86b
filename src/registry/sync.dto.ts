import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayUnique } from 'class-validator';
import { INT32 } from '../core/catalog.js';
import { REJECTIONS } from '../core/sync-plan.js';
import type { RejectionCode } from '../core/sync-plan.js';
import { AList, Flag, Line, NestedList, OneOf, Optional, Text, WholeNumber } from '../platform/http/field-rules.js';
import { WarningDto } from '../platform/http/warning.dto.js';

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
  @WholeNumber(INT32.min, INT32.max)
  sort?: number | null;
}

const EXAMPLE_TOOLS = [
  { name: 'read_file', description: 'Read a file of the workspace.', toolset: 'base', kind: 'read', isCore: true, runtime: { filesystem: 'read' } },
  {
    name: 'web_search',
    description: 'Search the open web.',
    toolset: 'web',
    kind: 'read',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    runtime: { network: true },
  },
];

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
    example: EXAMPLE_TOOLS,
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
