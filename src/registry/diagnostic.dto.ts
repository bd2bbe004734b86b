import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { DIAGNOSTIC_EXAMPLE, RuntimeDiagnosticDto } from '../platform/http/runtime.dto.js';

@ApiExtraModels(RuntimeDiagnosticDto)
export class DiagnosticDto {
  @ApiProperty({ description: 'the revision that it was computed from', type: 'integer', example: 7 })
  revision!: number;

  @ApiProperty({
    description: 'by name; `operations` is null, for no context names a backend',
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(RuntimeDiagnosticDto) },
    example: { mysql_query: { ...DIAGNOSTIC_EXAMPLE, operations: null } },
  })
  tools!: object;
}
