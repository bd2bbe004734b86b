import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { WARNING_CODES } from '../../core/agent-document.js';

/** Something that was accepted and may not be meant. It never blocks and never widens. */
export class WarningDto {
  @ApiProperty({ description: 'the kind of warning for programs', enum: WARNING_CODES, example: 'UNKNOWN_TOOL' })
  code!: string;

  @ApiProperty({ description: 'the warning in words', example: 'no tool `old_tool` is registered' })
  message!: string;

  @ApiPropertyOptional({ description: 'the name that it speaks of', example: 'old_tool' })
  name?: string;

  @ApiPropertyOptional({ description: 'where in the document: a JSON Pointer', example: '/tools/enabled' })
  path?: string;
}
