import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { ToolsetCount } from '../core/tool-list.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { ToolsetsDto } from './tool.dto.js';
import { ToolsService } from './tools.service.js';

@ApiTags('tools')
@Controller('v1/toolsets')
export class ToolsetsController {
  constructor(private readonly tools: ToolsService) {}

  @Get()
  @Access('any-key')
  @ApiOperation({ summary: 'List the toolsets', description: 'Groups for display, over the available tools that agents may know of. Any scope.' })
  @ApiOkResponse({ description: 'the toolsets by name', type: ToolsetsDto })
  async list(@Tenant() tenant: TenantId): Promise<{ items: readonly ToolsetCount[] }> {
    return { items: await this.tools.toolsets(tenant) };
  }
}
