import { ApiProperty } from '@nestjs/swagger';

/** What a model is given of a tool. */
export class DefinitionDto {
  @ApiProperty({ description: 'the exact name', example: 'mysql_query' })
  name!: string;

  @ApiProperty({ description: 'what the model reads', example: 'Run one read-only SQL statement.' })
  description!: string;

  @ApiProperty({ description: 'the JSON Schema of its arguments', type: 'object', additionalProperties: true, example: { type: 'object', properties: { sql: { type: 'string' } }, required: ['sql'] } })
  inputSchema!: object;
}
