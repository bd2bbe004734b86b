import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayNotEmpty, Matches } from 'class-validator';
import { EXPOSURES } from '../core/settings.js';
import { Flag, Line, ListOf, OneOf, Optional, Texts, Time, WholeNumber } from '../platform/http/field-rules.js';
import { TENANT_ID_PATTERN } from '../platform/tenant-id.js';
import { SCOPES } from './scope.js';
import type { Scope } from './scope.js';
import type { Exposure } from '../core/settings.js';

export class CreateTenantDto {
  @ApiProperty({ description: 'the id, chosen by you and never changed', pattern: TENANT_ID_PATTERN, example: 'acme' })
  @Matches(new RegExp(TENANT_ID_PATTERN, 'u'), { message: `\`tenantId\` must match ${TENANT_ID_PATTERN}` })
  tenantId!: string;

  @ApiProperty({ description: 'a name for people', example: 'Acme Ltd' })
  @Line(200)
  name!: string;
}

export class TenantDto {
  @ApiProperty({ description: 'the id', example: 'acme' })
  tenantId!: string;

  @ApiProperty({ description: 'a name for people', example: 'Acme Ltd' })
  name!: string;

  @ApiProperty({ description: 'when it was made', example: '2026-11-30T09:15:00.000Z', format: 'date-time' })
  createdAt!: string;
}

export class TenantPageDto {
  @ApiProperty({ description: 'by `tenantId`', type: [TenantDto] })
  items!: TenantDto[];

  @ApiProperty({ description: 'for the next page; null at the end', type: 'string', nullable: true, example: null })
  nextCursor!: string | null;
}

export class CreateKeyDto {
  @ApiProperty({ description: 'what the key is for', example: 'trying things out' })
  @Line(200)
  name!: string;

  @ApiProperty({ description: 'what the key may do; `governance:write` implies reading, `admin` implies all; a runtime needs `decide` alone', enum: SCOPES, isArray: true, minItems: 1, example: ['admin'] })
  @ArrayNotEmpty({ message: '`scopes` must name at least one scope' })
  @ListOf(SCOPES)
  scopes!: Scope[];

  @ApiPropertyOptional({ description: 'when the key stops working; absent or null = never', example: null, type: 'string', nullable: true })
  @Optional()
  @Time()
  expiresAt?: string | null;
}

export class KeyDto {
  @ApiProperty({ description: 'names the key without giving it away', example: 'Yk3vGx0aR2mQpL8s' })
  keyId!: string;

  @ApiProperty({ description: 'what the key is for', example: 'agent runtime, production' })
  name!: string;

  @ApiProperty({ description: 'what the key may do', enum: SCOPES, isArray: true, example: ['decide'] })
  scopes!: Scope[];

  @ApiProperty({ description: 'when the key stops working; null = never', example: null, format: 'date-time', type: 'string', nullable: true })
  expiresAt!: string | null;

  @ApiProperty({ description: 'when it was made', example: '2026-11-30T09:15:00.000Z', format: 'date-time' })
  createdAt!: string;
}

export class NewKeyDto extends KeyDto {
  @ApiProperty({ description: 'the key itself: shown this once, kept nowhere', example: 'tck_acme.Yk3vGx0aR2mQpL8s.d2hhdCBhIGxvbmcgc2VjcmV0IHRoaXMgaXMgaW5kZWU' })
  key!: string;
}

export class KeyPageDto {
  @ApiProperty({ description: 'by `keyId`', type: [KeyDto] })
  items!: KeyDto[];

  @ApiProperty({ description: 'for the next page; null at the end', type: 'string', nullable: true, example: null })
  nextCursor!: string | null;
}

export class SettingsDto {
  @ApiProperty({ description: 'tools that are offered at once in every exposure mode; grants nothing', type: [String], example: ['ask_user'] })
  alwaysInitial!: string[];

  @ApiProperty({ description: 'agents whose delegate tools a main agent is offered at once; grants nothing', type: [String], example: ['explorer'] })
  mainAgentInitialSubagents!: string[];

  @ApiProperty({ description: 'delegates and spawning need a depth below this', type: 'integer', example: 2 })
  maxSubagentDepth!: number;

  @ApiProperty({ description: 'whether a sub-agent gets only what its parent may have itself', example: false })
  childWithinParent!: boolean;

  @ApiProperty({ description: 'the exposure mode of requests that name none', enum: EXPOSURES, example: 'all' })
  defaultExposure!: Exposure;

  @ApiProperty({ description: 'the words that an intent may delegate to; null = any', type: [String], nullable: true, example: ['read', 'final'] })
  intentDelegates!: string[] | null;

  @ApiProperty({ description: 'days that a conversation which nobody uses is kept', type: 'integer', example: 30 })
  conversationRetentionDays!: number;

  @ApiProperty({ description: 'days that an entry of history is kept', type: 'integer', example: 400 })
  historyRetentionDays!: number;
}

/** A merge patch: absent leaves, null takes the default back. */
export class SettingsPatchDto {
  @ApiPropertyOptional({ description: 'tools that are offered at once in every exposure mode; grants nothing', type: [String], nullable: true, example: ['ask_user'] })
  @Optional()
  @Texts()
  alwaysInitial?: string[] | null;

  @ApiPropertyOptional({ description: 'agents whose delegate tools a main agent is offered at once; grants nothing', type: [String], nullable: true, example: ['explorer'] })
  @Optional()
  @Texts()
  mainAgentInitialSubagents?: string[] | null;

  @ApiPropertyOptional({ description: 'delegates and spawning need a depth below this', type: 'integer', nullable: true, example: 2 })
  @Optional()
  @WholeNumber(0, 64)
  maxSubagentDepth?: number | null;

  @ApiPropertyOptional({ description: 'whether a sub-agent gets only what its parent may have itself', type: 'boolean', nullable: true, example: true })
  @Optional()
  @Flag()
  childWithinParent?: boolean | null;

  @ApiPropertyOptional({ description: 'the exposure mode of requests that name none', enum: EXPOSURES, nullable: true, example: 'all' })
  @Optional()
  @OneOf(EXPOSURES)
  defaultExposure?: Exposure | null;

  @ApiPropertyOptional({ description: 'the words that an intent may delegate to; null = any', type: [String], nullable: true, example: ['read', 'final'] })
  @Optional()
  @Texts()
  intentDelegates?: string[] | null;

  @ApiPropertyOptional({ description: 'days that a conversation which nobody uses is kept: 1 to 3,650', type: 'integer', nullable: true, example: 30 })
  @Optional()
  @WholeNumber(1, 3_650)
  conversationRetentionDays?: number | null;

  @ApiPropertyOptional({ description: 'days that an entry of history is kept: 1 to 3,650', type: 'integer', nullable: true, example: 400 })
  @Optional()
  @WholeNumber(1, 3_650)
  historyRetentionDays?: number | null;
}
