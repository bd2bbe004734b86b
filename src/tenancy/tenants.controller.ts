import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiLink, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Page } from '../platform/http/page.dto.js';
import { PageQueryDto, limitOf, pageOf, placeOf } from '../platform/http/page.dto.js';
import { ApiProblems } from '../platform/http/api-problems.dto.js';
import { Access } from './access.js';
import { CreateTenantDto, TenantDto, TenantPageDto } from './tenancy.dto.js';
import type { TenantRecord } from './tenant.store.js';
import { TenantsService } from './tenants.service.js';

const tenantDto = ({ tenantId, name, createdAt }: TenantRecord): TenantDto => ({ tenantId, name, createdAt: createdAt.toISOString() });

@ApiTags('tenants')
@Access('platform')
@Controller('v1/tenants')
export class TenantsController {
  constructor(private readonly tenants: TenantsService) {}

  @Post()
  @ApiOperation({ summary: 'Make a tenant', description: 'With the platform key alone.' })
  @ApiCreatedResponse({ description: 'the tenant', type: TenantDto })
  @ApiProblems('TENANT_EXISTS')
  async create(@Body() { tenantId, name }: CreateTenantDto): Promise<TenantDto> {
    return tenantDto(await this.tenants.create(tenantId, name));
  }

  @Get()
  @ApiOperation({ summary: 'List the tenants', description: 'With the platform key alone.' })
  @ApiOkResponse({ description: 'a page of tenants', type: TenantPageDto })
  @ApiProblems('INVALID_QUERY')
  async list(@Query() query: PageQueryDto): Promise<Page<TenantDto>> {
    const limit = limitOf(query);
    const [after = null] = placeOf(query, ['string']) ?? [];
    const found = await this.tenants.list(after as string | null, limit + 1);
    return pageOf(found.map(tenantDto), limit, ({ tenantId }) => [tenantId]);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Remove a tenant with its keys and all its data', description: 'With the platform key alone. There is no way back.' })
  @ApiParam({ name: 'id', description: 'the id of the tenant', example: 'acme' })
  @ApiLink({ from: TenantDto, fromField: 'tenantId', routeParam: 'id' })
  @ApiNoContentResponse({ description: 'it is gone' })
  @ApiProblems('TENANT_NOT_FOUND')
  delete(@Param('id') id: string): Promise<void> {
    return this.tenants.delete(id);
  }
}
