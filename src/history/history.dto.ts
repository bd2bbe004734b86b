import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ACTIONS, ACTOR_TYPES, ENTITIES } from '../core/history.js';
import type { Action, ActorType, Entity } from '../core/history.js';
import { Flag, OneOf, Optional, Text, Time } from '../platform/http/field-rules.js';
import { PageQueryDto } from '../platform/http/page.dto.js';

export class HistoryQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ description: 'what was changed', enum: ENTITIES, example: 'agent' })
  @Optional()
  @OneOf(ENTITIES)
  entity?: Entity;

  @ApiPropertyOptional({ description: 'which one: the id of an agent, the name of a tool, a source, `settings`', example: 'researcher' })
  @Optional()
  @Text()
  id?: string;

  @ApiPropertyOptional({ description: 'the id of the key that did it; `platform` for the platform key, `person:` and the `sub` for a person', example: 'Yk3vGx0aR2mQpL8s' })
  @Optional()
  @Text()
  actor?: string;

  @ApiPropertyOptional({ description: 'not before this moment', example: '2026-11-30T00:00:00Z' })
  @Optional()
  @Time()
  from?: string;

  @ApiPropertyOptional({ description: 'not after this moment', example: '2027-12-31T00:00:00Z' })
  @Optional()
  @Time()
  to?: string;
}

export class ActorDto {
  @ApiProperty({ description: 'a tenant’s key, the platform key, or a person who brought a token of the issuer', enum: ACTOR_TYPES, example: 'key' })
  type!: ActorType;

  @ApiProperty({ description: 'the id of the key; `platform` for the platform key; of a person `person:` and the `sub` of the token', example: 'Yk3vGx0aR2mQpL8s' })
  keyId!: string;

  @ApiProperty({ description: 'the name that the key had then; of a person, what the token says of the name', example: 'ops console' })
  name!: string;
}

export class SyncSummaryDto {
  @ApiProperty({ description: 'tools that were new', type: [String], example: ['mysql_query'] })
  added!: string[];

  @ApiProperty({ description: 'tools whose declaration changed', type: [String], example: [] })
  updated!: string[];

  @ApiProperty({ description: 'unavailable tools that came back', type: [String], example: [] })
  restored!: string[];

  @ApiProperty({ description: 'tools that became unavailable', type: [String], example: [] })
  missing!: string[];

  @ApiProperty({ description: 'tools that are registered no longer, by a revert alone', type: [String], example: [] })
  removed!: string[];
}

const STATE = { type: 'object' as const, additionalProperties: true, nullable: true };

export class HistoryEntryDto {
  @ApiProperty({ description: 'the revision that this write took: it names the entry', type: 'integer', example: 17 })
  revision!: number;

  @ApiProperty({ description: 'when', format: 'date-time', example: '2026-11-30T09:15:00.000Z' })
  at!: string;

  @ApiProperty({ description: 'with which key, or who', type: ActorDto })
  actor!: ActorDto;

  @ApiProperty({ description: 'in which request', example: 'b1946ac9-2f1c-4c7e-9f0e-8c1d5f2a7a10' })
  requestId!: string;

  @ApiProperty({ description: 'what was changed', enum: ENTITIES, example: 'agent' })
  entity!: Entity;

  @ApiProperty({ description: 'which one: the id of an agent, the name of a tool, a source, `settings`', example: 'researcher' })
  id!: string;

  @ApiProperty({ description: 'what was done to it', enum: ACTIONS, example: 'update' })
  action!: Action;

  @ApiProperty({ description: 'the revision whose entry this one took back; null for any other write', type: 'integer', nullable: true, example: null })
  reverts!: number | null;

  @ApiProperty({ ...STATE, description: 'how it was; null where it was not there. Of a sync: the tools that it touched, and the categories if it touched them', example: { agentId: 'researcher', displayName: 'Researcher', tools: { inheritCoreTools: true, enabled: ['web_search'], disabled: [] } } })
  before!: object | null;

  @ApiProperty({ ...STATE, description: 'how it was left; null where it is gone', example: { agentId: 'researcher', displayName: 'Researcher', tools: { inheritCoreTools: true, enabled: [], disabled: [] } } })
  after!: object | null;

  @ApiProperty({ description: 'of a sync: what became of each tool that it touched; else null', type: SyncSummaryDto, nullable: true })
  plan!: SyncSummaryDto | null;

  @ApiProperty({ description: 'whether `before`, `after` and `plan` are left out, as too large for a list: read the entry by itself', example: false })
  abridged!: boolean;
}

export class HistoryPageDto {
  @ApiProperty({ description: 'the newest first', type: [HistoryEntryDto] })
  items!: HistoryEntryDto[];

  @ApiProperty({ description: 'for the next page; null at the end', type: 'string', nullable: true, example: null })
  nextCursor!: string | null;
}

export class RevertDto {
  @ApiPropertyOptional({ description: 'puts the earlier state back also over what was changed since', type: 'boolean', default: false, nullable: true, example: false })
  @Optional()
  @Flag()
  force?: boolean | null;
}

export class RevertedDto {
  @ApiProperty({ description: 'the revision afterwards', type: 'integer', example: 18 })
  revision!: number;

  @ApiProperty({ description: 'the entry that was taken back', type: 'integer', example: 17 })
  reverts!: number;

  @ApiProperty({ description: 'what it was about', enum: ENTITIES, example: 'agent' })
  entity!: Entity;

  @ApiProperty({ description: 'which one', example: 'researcher' })
  id!: string;

  @ApiProperty({ description: 'false where everything was as before that write already: then nothing is written', example: true })
  changed!: boolean;
}
