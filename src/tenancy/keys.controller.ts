import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiLink, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../platform/http/api-problems.dto.js';
import type { Page } from '../platform/http/page.dto.js';
import { PageQueryDto, limitOf, pageOf, placeOf } from '../platform/http/page.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from './access.js';
import type { KeyRecord } from './key.store.js';
import { KeysService } from './keys.service.js';
import { CreateKeyDto, KeyDto, KeyPageDto, NewKeyDto } from './tenancy.dto.js';

const keyDto = ({ keyId, name, scopes, expiresAt, createdAt }: KeyRecord): KeyDto => ({
  keyId,
  name,
  scopes: [...scopes],
  expiresAt: expiresAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
});

@ApiTags('keys')
@Access({ anyOf: ['admin'] })
@Controller('v1/keys')
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Post()
  @ApiOperation({ summary: 'Mint a key', description: 'The answer shows the key this once. Scope `admin`.' })
  @ApiCreatedResponse({ description: 'the key', type: NewKeyDto })
  async mint(@Tenant() tenant: TenantId, @Body() { name, scopes, expiresAt }: CreateKeyDto): Promise<NewKeyDto> {
    const { record, key } = await this.keys.mint(tenant, { name, scopes, expiresAt: expiresAt ? new Date(expiresAt) : null });
    return Object.assign(keyDto(record), { key });
  }

  @Get()
  @ApiOperation({ summary: 'List the keys', description: 'Never the keys themselves. Scope `admin`.' })
  @ApiOkResponse({ description: 'a page of keys', type: KeyPageDto })
  @ApiProblems('INVALID_QUERY')
  async list(@Tenant() tenant: TenantId, @Query() query: PageQueryDto): Promise<Page<KeyDto>> {
    const limit = limitOf(query);
    const [after = null] = placeOf(query, ['string']) ?? [];
    const found = await this.keys.list(tenant, after as string | null, limit + 1);
    return pageOf(found.map(keyDto), limit, ({ keyId }) => [keyId]);
  }

  @Delete(':keyId')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke a key', description: 'It stops working everywhere within a second. Scope `admin`.' })
  @ApiParam({ name: 'keyId', description: 'the id of the key', example: 'Yk3vGx0aR2mQpL8s' })
  @ApiLink({ from: KeyDto, fromField: 'keyId', routeParam: 'keyId' })
  @ApiNoContentResponse({ description: 'it is revoked' })
  @ApiProblems('KEY_NOT_FOUND')
  revoke(@Tenant() tenant: TenantId, @Param('keyId') keyId: string): Promise<void> {
    return this.keys.revoke(tenant, keyId);
  }
}
