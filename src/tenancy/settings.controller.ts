import { Body, Controller, Get, Headers, Patch, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Settings } from '../core/settings.js';
import type { Author } from '../platform/author.js';
import { ApiProblems, ETAG_HEADERS, IF_MATCH, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { etagOf } from '../platform/errors/etag.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, By, Tenant } from './access.js';
import { SettingsService } from './settings.service.js';
import { SettingsDto, SettingsPatchDto } from './tenancy.dto.js';

@ApiTags('settings')
@Controller('v1/settings')
export class SettingsController {
  constructor(private readonly settings: SettingsService) {}

  @Get()
  @Access({ anyOf: ['governance:read'] })
  @ApiOperation({ summary: 'Read the settings', description: 'Scope `governance:read`.' })
  @ApiOkResponse({ description: 'the settings', type: SettingsDto, headers: ETAG_HEADERS })
  async read(@Tenant() tenant: TenantId, @Res({ passthrough: true }) reply: FastifyReply): Promise<Settings> {
    const { settings, revision } = await this.settings.read(tenant);
    reply.header('etag', etagOf(revision));
    return settings;
  }

  @Patch()
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({ summary: 'Change settings', description: 'A merge patch: absent leaves, null takes the default back. Scope `governance:write`.' })
  @ApiHeader(IF_MATCH)
  @ApiOkResponse({ description: 'the settings after the change', type: SettingsDto, headers: { ...ETAG_HEADERS, ...REVISION_HEADERS } })
  @ApiProblems('PRECONDITION_FAILED', 'IF_MATCH_REQUIRED')
  async patch(
    @By() by: Author,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() patch: SettingsPatchDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Settings> {
    const { result, revision } = await this.settings.patch(by, ifMatch, patch);
    reply.headers({ etag: etagOf(result.revision), 'x-toolcrib-revision': String(revision) });
    return result.settings;
  }
}
