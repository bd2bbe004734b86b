import { ApiProperty } from '@nestjs/swagger';
import { REASONS } from '../../core/reason.js';

const CODES = ['OK', ...Object.keys(REASONS)];

export class ToolsChangedDto {
  @ApiProperty({ description: 'which of the contexts that were asked about, from 0 on', type: 'integer', example: 0 })
  context!: number;

  @ApiProperty({ description: 'what would happen', enum: ['gained', 'lost'], example: 'lost' })
  change!: string;

  @ApiProperty({ description: 'the primary reason now, or `OK`', enum: CODES, example: 'OK' })
  now!: string;

  @ApiProperty({ description: 'the same after the save', enum: CODES, example: 'GLOBALLY_DISABLED' })
  then!: string;

  @ApiProperty({ description: 'the tools that change so', type: [String], example: ['web_search'] })
  tools!: string[];
}

export class AgentImpactDto {
  @ApiProperty({ description: 'the agent', example: 'researcher' })
  agentId!: string;

  @ApiProperty({ description: 'what it would gain and lose, and why', type: [ToolsChangedDto] })
  changes!: ToolsChangedDto[];
}

export class ToolCountDto {
  @ApiProperty({ description: 'the tool', example: 'web_search' })
  toolName!: string;

  @ApiProperty({ description: 'how many agents would gain it', type: 'integer', example: 0 })
  gained!: number;

  @ApiProperty({ description: 'how many agents would lose it', type: 'integer', example: 12 })
  lost!: number;
}

export class ImpactCountsDto {
  @ApiProperty({ description: 'how many agents there are', type: 'integer', example: 41 })
  agents!: number;

  @ApiProperty({ description: 'how many of them would gain or lose anything', type: 'integer', example: 12 })
  changed!: number;

  @ApiProperty({ description: 'how many would gain a tool', type: 'integer', example: 0 })
  gained!: number;

  @ApiProperty({ description: 'how many would lose a tool', type: 'integer', example: 12 })
  lost!: number;
}

export class ImpactDto {
  @ApiProperty({ description: 'the revision that it was worked out from', type: 'integer', example: 7 })
  revision!: number;

  @ApiProperty({ description: 'over all agents', type: ImpactCountsDto })
  counts!: ImpactCountsDto;

  @ApiProperty({ description: 'each tool that any agent would gain or lose, over all agents', type: [ToolCountDto] })
  tools!: ToolCountDto[];

  @ApiProperty({ description: 'the first 200 agents that would gain or lose anything, by `agentId`; fewer where they name more than 200,000 tools together', type: [AgentImpactDto] })
  agents!: AgentImpactDto[];
}
