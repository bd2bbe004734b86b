import { ApiProperty } from '@nestjs/swagger';
import { ROUTING_STRATEGIES } from '../../core/catalog.js';
import { REASONS } from '../../core/reason.js';
import { ROUTES } from '../../core/route.js';
import { RuntimeNeedsDto } from './runtime-needs.dto.js';

const CODES = Object.keys(REASONS);

export class RuntimeProfileDto extends RuntimeNeedsDto {
  @ApiProperty({ description: 'agent over ops over source', enum: ROUTING_STRATEGIES, example: 'auto' })
  workerRoutingStrategy!: string;
}

export class RendererDto {
  @ApiProperty({ description: 'how a page shows its results', example: 'sql-table' })
  key!: string;

  @ApiProperty({ description: 'whether the source declared it', enum: ['custom', 'default'], example: 'custom' })
  binding!: string;

  @ApiProperty({ description: 'what the renderer can do', type: [String], example: ['table'] })
  capabilities!: string[];
}

export class RuntimeDiagnosticDto {
  @ApiProperty({ description: 'what the tool needs', type: RuntimeProfileDto })
  profile!: RuntimeProfileDto;

  @ApiProperty({ description: 'where it runs', enum: ROUTES, example: 'worker-local' })
  route!: string;

  @ApiProperty({ description: 'everything that blocks it', enum: CODES, isArray: true, example: [] })
  blockedReasons!: string[];

  @ApiProperty({ description: 'how a page shows its results', type: RendererDto })
  renderer!: RendererDto;

  @ApiProperty({ description: 'the execution backend that the context names', type: 'string', nullable: true, example: 'local' })
  operations!: string | null;
}

/** Of a diagnostic. */
export const DIAGNOSTIC_EXAMPLE = {
  profile: { filesystem: 'none', shell: false, network: true, mainProcess: true, operations: ['local'], workerRoutingStrategy: 'auto' },
  route: 'main-process-proxy',
  blockedReasons: [],
  renderer: { key: 'sql-table', binding: 'custom', capabilities: ['table'] },
  operations: 'local',
};
