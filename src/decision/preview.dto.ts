import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { AgentDocumentDto, AgentToolsDto, ToolOverrideDto } from '../platform/http/agent-document.dto.js';
import { Nested, Optional, Text } from '../platform/http/field-rules.js';
import { DecisionDto } from './decision.dto.js';
import type { DraftSchemas } from './request.schema.js';

export class DraftToolOverrideDto {
  @ApiProperty({ description: 'the tool whose override is drafted', example: 'web_search' })
  @Text()
  toolName!: string;

  @ApiProperty({ description: 'a JSON merge patch of its override', type: ToolOverrideDto, example: { promptHint: 'Cite every page.' } })
  @Nested(() => ToolOverrideDto)
  patch!: ToolOverrideDto;
}

/** What of a preview is not of decide: by the rules of saving. */
export class DraftsDto {
  @ApiPropertyOptional({ description: 'a part of the document, as PATCH takes it', type: AgentDocumentDto, nullable: true })
  @Optional()
  @Nested(() => AgentDocumentDto)
  draft?: AgentDocumentDto | null;

  @ApiPropertyOptional({ description: 'merged into `tools`', type: AgentToolsDto, nullable: true })
  @Optional()
  @Nested(() => AgentToolsDto)
  draftAgentTools?: AgentToolsDto | null;

  @ApiPropertyOptional({ description: 'merged into `toolOverrides`', type: DraftToolOverrideDto, nullable: true })
  @Optional()
  @Nested(() => DraftToolOverrideDto)
  draftToolOverride?: DraftToolOverrideDto | null;
}

const orNull = (type: new () => object, description: string, example: unknown) => ({ description, example, anyOf: [{ $ref: getSchemaPath(type) }, { type: 'null' }] });

export const DRAFT_SCHEMAS: DraftSchemas = {
  draft: orNull(AgentDocumentDto, 'a part of the document, merged first, as PATCH takes it; for an agent that is not saved yet the document itself', { availableTools: ['read_file', 'web_search'] }),
  draftAgentTools: orNull(AgentToolsDto, 'merged into `tools` then', { enabled: ['web_search'], disabled: ['write_file'] }),
  draftToolOverride: orNull(DraftToolOverrideDto, 'merged into `toolOverrides` last', { toolName: 'web_search', patch: { extra: { workerRoutingStrategy: 'main-process-proxy' } } }),
};

export class NameDiffDto {
  @ApiProperty({ description: 'tools that the agent would get', type: [String], example: ['web_search'] })
  added!: string[];

  @ApiProperty({ description: 'tools that the agent would lose', type: [String], example: ['write_file'] })
  removed!: string[];
}

export class PreviewDto extends DecisionDto {
  @ApiProperty({ description: '`toolNames` against now; an agent that is not saved yet has nothing now', type: NameDiffDto })
  diff!: NameDiffDto;
}
