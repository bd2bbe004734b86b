import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { LOCK_REASONS, STATES } from '../core/agent-state.js';
import { CAPABILITIES } from '../core/catalog.js';
import type { EditorStatus } from '../core/editor-view.js';
import { EDITOR_STATUSES } from '../core/editor-view.js';
import { REASONS } from '../core/reason.js';
import { Flag, OneOf } from '../platform/http/field-rules.js';
import { DIAGNOSTIC_EXAMPLE, RendererDto, RuntimeProfileDto } from '../platform/http/runtime.dto.js';
import { WarningDto } from '../platform/http/warning.dto.js';
import { AgentDto } from './agents.dto.js';

const BOUNDARY_CODES = Object.entries(REASONS).filter(([, { stage }]) => stage === 'boundary').map(([code]) => code);

export class EditorQueryDto {
  @ApiPropertyOptional({ description: 'a part of the name, label or description, whatever its case', example: 'search' })
  @IsOptional()
  @IsString({ message: '`search` must be given once' })
  search?: string;

  @ApiPropertyOptional({ description: 'by the state alone: `off` is closed or not enabled', enum: EDITOR_STATUSES, example: 'off' })
  @IsOptional()
  @OneOf(EDITOR_STATUSES)
  status?: EditorStatus;

  @ApiPropertyOptional({ description: 'whether it is core', enum: ['true', 'false'], example: 'true' })
  @IsOptional()
  @OneOf(['true', 'false'])
  core?: string;
}

class EditorSummaryDto {
  @ApiProperty({ description: 'available tools that agents may know of', type: 'integer', example: 41 })
  total!: number;

  @ApiProperty({ description: 'those that the agent has: enabled, and inside its ceilings', type: 'integer', example: 12 })
  enabled!: number;

  @ApiProperty({ description: 'those that are core, whatever their status', type: 'integer', example: 9 })
  core!: number;

  @ApiProperty({ description: 'those that are core and that the agent has', type: 'integer', example: 9 })
  coreEnabled!: number;

  @ApiProperty({ description: 'those that are closed for the agent', type: 'integer', example: 0 })
  agentDisabled!: number;

  @ApiProperty({ description: 'those that are stopped for every agent', type: 'integer', example: 2 })
  globallyDisabled!: number;

  @ApiProperty({ description: 'names anywhere in the document that are not registered, sorted', type: [String], example: ['old_tool'] })
  unknownNames!: string[];
}

class EditorCategoryDto {
  @ApiProperty({ description: 'the group; it authorises nothing', example: 'base' })
  toolset!: string;

  @ApiProperty({ description: 'its available tools', type: 'integer', example: 8 })
  total!: number;

  @ApiProperty({ description: 'those that the agent has', type: 'integer', example: 8 })
  enabled!: number;
}

class EditorSwitchDto {
  @ApiProperty({ description: 'by the state alone', example: true })
  on!: boolean;

  @ApiProperty({ description: 'whether something keeps it from being moved', example: false })
  locked!: boolean;

  @ApiProperty({ description: 'what keeps it', enum: [...LOCK_REASONS, null], type: 'string', nullable: true, example: null })
  lockReason!: string | null;
}

class EditorToolDto {
  @ApiProperty({ description: 'the exact name', example: 'web_search' })
  name!: string;

  @ApiProperty({ description: 'a name for people, as this agent has it', example: 'Web search' })
  label!: string;

  @ApiProperty({ description: 'what models read of the tool, as this agent has it', example: 'Search the open web.' })
  description!: string;

  @ApiProperty({ description: 'the group for display', example: 'web' })
  toolset!: string;

  @ApiProperty({ description: 'what the model must be able to take in', enum: CAPABILITIES, example: 'text' })
  capability!: string;

  @ApiProperty({ description: 'whether agents inherit it', example: false })
  isCore!: boolean;

  @ApiProperty({ description: 'how it stands with the agent', enum: Object.keys(STATES), example: 'agent_enabled' })
  state!: string;

  @ApiProperty({ description: 'the same in words; Chinese for `Accept-Language: zh`', example: 'enabled for this agent' })
  stateLabel!: string;

  @ApiProperty({ description: 'whether its source still declares it; one that is not enters no count', example: true })
  available!: boolean;

  @ApiProperty({ description: 'the ceiling that still refuses it to this agent as a main agent', enum: [...BOUNDARY_CODES, null], type: 'string', nullable: true, example: null })
  blockedBy!: string | null;

  @ApiProperty({ description: 'the same in words', type: 'string', nullable: true, example: null })
  blockedByLabel!: string | null;

  @ApiProperty({ description: 'its switch', type: EditorSwitchDto })
  switch!: EditorSwitchDto;

  @ApiProperty({ description: 'what keeps the switch, in words', type: 'string', nullable: true, example: null })
  lockLabel!: string | null;

  @ApiProperty({ description: 'what it needs of a session', type: RuntimeProfileDto, example: DIAGNOSTIC_EXAMPLE.profile })
  effectiveRuntimeProfile!: RuntimeProfileDto;

  @ApiProperty({ description: 'whether sub-agents of this agent could use it', example: false })
  effectiveSubagentAllowed!: boolean;

  @ApiProperty({ description: 'how a page shows its results', type: RendererDto, example: { key: 'default', binding: 'default', capabilities: [] } })
  renderer!: RendererDto;
}

export class EditorViewDto {
  @ApiProperty({ description: 'the agent', example: 'researcher' })
  agentId!: string;

  @ApiProperty({ description: 'the revision that it was computed from', type: 'integer', example: 7 })
  revision!: number;

  @ApiProperty({ description: 'counts over the whole catalog, whatever the filter', type: EditorSummaryDto })
  summary!: EditorSummaryDto;

  @ApiProperty({ description: 'what the agent has: by default first, then by name; each by (toolset, name)', type: [String], example: ['read_file', 'web_search'] })
  enabledTools!: string[];

  @ApiProperty({ description: 'by toolset, over the whole catalog', type: [EditorCategoryDto] })
  categories!: EditorCategoryDto[];

  @ApiProperty({ description: 'those that fit the filter, by (effective `sort`, `name`)', type: [EditorToolDto] })
  tools!: EditorToolDto[];
}

export class SwitchDto {
  @ApiProperty({ description: 'whether the agent is to have the tool', example: false })
  @Flag()
  on!: boolean;
}

export class SwitchedDto {
  @ApiProperty({ description: 'how the tool stands with the agent now; null for a name that is not registered', enum: [...Object.keys(STATES), null], type: 'string', nullable: true, example: 'agent_disabled' })
  state!: string | null;

  @ApiProperty({ description: 'the same in words; Chinese for `Accept-Language: zh`', type: 'string', nullable: true, example: 'closed for this agent' })
  stateLabel!: string | null;

  @ApiProperty({ description: 'the document as it is saved', type: AgentDto })
  document!: AgentDto;

  @ApiProperty({ description: 'names that are not known and entries that do nothing', type: [WarningDto] })
  warnings!: WarningDto[];
}
