import { ApiProperty } from '@nestjs/swagger';
import { FILESYSTEMS, ROUTING_STRATEGIES } from '../../core/catalog.js';

/** The members of `extra` that decide; the others are handed through. */
export const EXTRA_RULES = {
  workerRoutingStrategy: { description: 'where the tool runs, as far as the session lets it', values: ROUTING_STRATEGIES },
  allowInSubagent: { description: 'whether sub-agents may have it', values: 'boolean' },
} as const;

/** What a tool needs of a session: the same in the registry and in decisions. */
export class RuntimeNeedsDto {
  @ApiProperty({ description: 'what the tool does to files', enum: FILESYSTEMS, example: 'none' })
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
