import { ApiProperty } from '@nestjs/swagger';

/** The loading state of a conversation, as decide and the conversation's own routes answer it. */
export class ToolLoadingDto {
  @ApiProperty({ description: 'whether anything may be deferred', example: true })
  enabled!: boolean;

  @ApiProperty({ description: 'what is deferred, pinned at creation', type: [String], example: ['list_workflows', 'update_memory'] })
  deferredSet!: string[];

  @ApiProperty({ description: 'what was offered at once at creation', type: [String], example: ['read_file', 'load_tools'] })
  initialExposed!: string[];

  @ApiProperty({ description: 'what was loaded since', type: [String], example: ['list_workflows'] })
  loaded!: string[];

  @ApiProperty({ description: 'deferred and not loaded', type: [String], example: ['update_memory'] })
  pending!: string[];

  @ApiProperty({ description: 'others that a search has found', type: [String], example: [] })
  discovered!: string[];

  @ApiProperty({ description: 'names above that are no longer there for anybody', type: [String], example: [] })
  staleReferences!: string[];
}
