import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** Something that was accepted and may not be meant. It never blocks and never widens. */
export class WarningDto {
  @ApiProperty({ description: 'the kind of warning for programs', enum: ['UNKNOWN_TOOL', 'UNKNOWN_AGENT', 'IN_BOTH_LISTS', 'NO_EFFECT', 'UNKNOWN_TOOLSET', 'CONFIRM_REMOVALS'], example: 'UNKNOWN_TOOL' })
  code!: string;

  @ApiProperty({ description: 'the warning in words', example: 'no tool `old_tool` is registered' })
  message!: string;

  @ApiPropertyOptional({ description: 'the name that it speaks of', example: 'old_tool' })
  name?: string;

  @ApiPropertyOptional({ description: 'where in the document: a JSON Pointer', example: '/tools/enabled' })
  path?: string;
}
