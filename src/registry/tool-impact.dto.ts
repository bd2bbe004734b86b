import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { Anything, Nested } from '../platform/http/field-rules.js';
import { contextsSchema } from '../policy/request.schema.js';
import { GovernancePatchDto } from './tool.dto.js';

export class ToolImpactDto {
  @ApiProperty({ description: 'what PATCH would be sent', type: GovernancePatchDto, example: { status: 'disabled' } })
  @Nested(() => GovernancePatchDto)
  patch!: GovernancePatchDto;

  @ApiPropertyOptional({ ...contextsSchema(DEFAULT_LIMITS), type: 'array', nullable: true })
  @Anything()
  contexts?: unknown;
}
