import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DEFINITION_EXAMPLE } from '../platform/http/definition.dto.js';

export class FoundToolDto {
  @ApiProperty({ description: 'the exact name', example: 'mysql_query' })
  name!: string;

  @ApiProperty({ description: 'what models read of it', example: 'Run one read-only SQL statement.' })
  description!: string;

  @ApiProperty({ description: 'higher is better; comparable within one answer alone', example: 12.4 })
  score!: number;

  @ApiProperty({ description: 'whether it was offered at once already, before this search', example: false })
  exposed!: boolean;

  @ApiProperty({ description: 'what a model is given, in `format`; null where that format can not tell its schema', type: 'object', additionalProperties: true, nullable: true, example: DEFINITION_EXAMPLE })
  definition!: object | null;
}

export class CategoryCountDto {
  @ApiProperty({ description: 'the key of the category', example: 'workflow' })
  key!: string;

  @ApiProperty({ description: 'its name for people', example: 'Workflows' })
  label!: string;

  @ApiProperty({ description: 'how many of the agent’s tools are in it', type: 'integer', example: 4 })
  count!: number;
}

export class SearchAnswerDto {
  @ApiProperty({ description: 'the revision that it was answered from', type: 'integer', example: 7 })
  revision!: number;

  @ApiProperty({ description: 'the best matches, best first', type: [FoundToolDto] })
  results!: FoundToolDto[];

  @ApiProperty({ description: 'how many tools match at all', type: 'integer', example: 3 })
  total!: number;

  @ApiPropertyOptional({ description: 'there when nothing matched: what the agent’s tools are about', type: [CategoryCountDto] })
  categories?: CategoryCountDto[];
}
