import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { LOAD_STATUSES } from '../core/load-tools.js';
import { DEFINITIONS } from '../platform/http/definition.dto.js';
import { ToolLoadingDto } from '../platform/http/tool-loading.dto.js';

export class ToolLoadingMetadataDto {
  @ApiProperty({ description: 'whether anything may be deferred', example: true })
  enabled!: boolean;

  @ApiProperty({ description: 'what is deferred, pinned at creation', type: [String], example: ['list_workflows', 'update_memory'] })
  deferred_set!: string[];

  @ApiProperty({ description: 'what was offered at once at creation', type: [String], example: ['read_file', 'load_tools'] })
  initial_exposed!: string[];

  @ApiProperty({ description: 'what was loaded since', type: [String], example: ['list_workflows'] })
  loaded!: string[];

  @ApiProperty({ description: 'deferred and not loaded', type: [String], example: ['update_memory'] })
  pending!: string[];
}

export class MetadataDto {
  @ApiProperty({ description: 'the state in the words of the runtime’s own metadata', type: ToolLoadingMetadataDto })
  tool_loading!: ToolLoadingMetadataDto;
}

@ApiExtraModels(ToolLoadingDto)
export class ConversationDto {
  @ApiProperty({ description: 'the conversation', example: 'c-2041' })
  conversationId!: string;

  @ApiProperty({ description: 'the agent that it belongs to', example: 'researcher' })
  agentId!: string;

  @ApiProperty({ description: 'its state now', type: ToolLoadingDto })
  toolLoading!: ToolLoadingDto;

  @ApiProperty({ description: 'for the system prompt: a line for each category with deferred tools; frozen at creation', example: '- Workflows (list_workflows): to run a workflow' })
  catalogText!: string;

  @ApiProperty({ description: 'for the runtime to keep', type: MetadataDto })
  metadata!: MetadataDto;
}

export class LoadResultDto {
  @ApiProperty({ description: 'the name as it was asked for', example: 'list_workflows' })
  name!: string;

  @ApiProperty({ description: '`loaded` now, `already_loaded` before, `not_deferred` (callable already), `unavailable` (deferred here, but not the agent’s now), or `unknown`', enum: LOAD_STATUSES, example: 'loaded' })
  status!: string;
}

export class LoadAnswerDto {
  @ApiProperty({ description: 'one for each name, in the order asked for', type: [LoadResultDto] })
  results!: LoadResultDto[];

  @ApiProperty({ description: 'loaded by this call', type: [String], example: ['list_workflows'] })
  loadedNow!: string[];

  @ApiProperty({ description: 'loaded before', type: [String], example: [] })
  alreadyLoaded!: string[];

  @ApiProperty({ description: 'the definitions of both, in `format`', ...DEFINITIONS })
  tools!: object[];

  @ApiProperty({ description: 'what can be loaded now', type: [String], example: ['update_memory'] })
  pending!: string[];
}

export class CompressedDto {
  @ApiProperty({ description: 'the state after: nothing is loaded, everything deferred is pending', type: ToolLoadingDto })
  toolLoading!: ToolLoadingDto;

  @ApiProperty({ description: 'what was loaded and found before, as a suggestion to load again', type: [String], example: ['list_workflows'] })
  previouslyLoaded!: string[];
}
