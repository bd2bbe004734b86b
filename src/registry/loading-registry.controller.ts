import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { LoadingGroup } from '../core/loading-registry.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { LoadingRegistryDto } from './tool.dto.js';
import { ToolsService } from './tools.service.js';

@ApiTags('tools')
@Controller('v1/loading-registry')
export class LoadingRegistryController {
  constructor(private readonly tools: ToolsService) {}

  @Get()
  @Access('any-key')
  @ApiOperation({ summary: 'List what conversations may defer', description: 'The registered tools with a loading category, by category. Any scope.' })
  @ApiOkResponse({ description: 'the categories with their tools', type: LoadingRegistryDto })
  async list(@Tenant() tenant: TenantId): Promise<{ items: readonly LoadingGroup[] }> {
    return { items: await this.tools.loadingRegistry(tenant) };
  }
}
