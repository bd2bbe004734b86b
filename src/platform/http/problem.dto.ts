import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ERRORS } from '../errors/app-error.js';

export class FieldFaultDto {
  @ApiProperty({ description: 'where: a JSON Pointer into the body, empty for the whole', example: '/tools/enabled' })
  path!: string;

  @ApiProperty({ description: 'what is wrong there', example: '`enabled` must be a list of strings' })
  message!: string;
}

/** RFC 9457, as `application/problem+json`. */
export class ProblemDto {
  @ApiProperty({ description: 'a URI that stands for the kind of error', example: 'urn:toolcrib:error:agent-not-found' })
  type!: string;

  @ApiProperty({ description: 'the kind of error in words', example: 'there is no such agent' })
  title!: string;

  @ApiProperty({ description: 'the HTTP status again', example: 404, type: 'integer' })
  status!: number;

  @ApiProperty({ description: 'what happened this time', example: 'there is no agent `researcher`' })
  detail!: string;

  @ApiProperty({ description: 'the kind of error for programs', enum: Object.keys(ERRORS), example: 'AGENT_NOT_FOUND' })
  code!: string;

  @ApiProperty({ description: 'the request that failed, as in `X-Request-Id` and in the log', example: 'b1946ac9-2f1c-4c7e-9f0e-8c1d5f2a7a10' })
  requestId!: string;

  @ApiPropertyOptional({ description: 'the trace that the request belongs to, where traces are on: the caller’s own, where it sent `traceparent`', example: '4bf92f3577b34da6a3ce929d0e0e4736' })
  traceId?: string;

  @ApiPropertyOptional({ description: 'every fault of the body, where it has some', type: [FieldFaultDto] })
  errors?: FieldFaultDto[];

  @ApiPropertyOptional({ description: 'of `NOTHING_LOADED`: what can be loaded', type: [String], example: ['list_workflows'] })
  pending?: string[];
}
