import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { Anything, Nested } from '../platform/http/field-rules.js';
import { contextsSchema } from '../policy/request.schema.js';
import { SettingsPatchDto } from './tenancy.dto.js';

export class SettingsImpactDto {
  @ApiProperty({ description: 'what PATCH would be sent', type: SettingsPatchDto, example: { childWithinParent: true } })
  @Nested(() => SettingsPatchDto)
  patch!: SettingsPatchDto;

  @ApiPropertyOptional({ ...contextsSchema(DEFAULT_LIMITS), type: 'array', nullable: true })
  @Anything()
  contexts?: unknown;
}
