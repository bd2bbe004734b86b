import { ApiProperty } from '@nestjs/swagger';
import { STATES } from '../core/agent-state.js';
import { Flag } from '../platform/http/field-rules.js';
import { WarningDto } from '../platform/http/warning.dto.js';
import { AgentDto } from './agents.dto.js';

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
