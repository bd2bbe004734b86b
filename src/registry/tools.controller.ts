import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiLink, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { CatalogTool } from '../core/catalog.js';
import { byText } from '../core/json.js';
import type { SyncPlan } from '../core/sync-plan.js';
import type { Author } from '../platform/author.js';
import { ApiProblems, ETAG_HEADERS, IF_MATCH, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { etagOf } from '../platform/errors/etag.js';
import type { Page } from '../platform/http/page.dto.js';
import { limitOf, pageOf, placeOf } from '../platform/http/page.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, By, Tenant } from '../tenancy/access.js';
import { SyncDto, SyncResultDto } from './sync.dto.js';
import { SyncService } from './sync.service.js';
import { GovernancePatchDto, ToolDto, ToolPageDto, ToolQueryDto } from './tool.dto.js';
import { ToolsService } from './tools.service.js';

const toolView = ({ record, effective }: CatalogTool) => ({
  name: record.name,
  source: record.source,
  availability: record.available ? 'available' : 'unavailable',
  declaration: record.declaration,
  governance: record.governance,
  effective,
});

const NAME_PARAM = { name: 'name', description: 'the exact name; a `/` in it is sent as `%2F`', example: 'mysql_query' };

@ApiTags('tools')
@Controller('v1/tools')
export class ToolsController {
  constructor(
    private readonly syncs: SyncService,
    private readonly tools: ToolsService,
  ) {}

  @Post('sync')
  @HttpCode(200)
  @Access({ anyOf: ['sync'] })
  @ApiOperation({ summary: 'Declare the tools of a source', description: 'Entries are judged one by one; the same sync again changes nothing. Overrides by ops are never touched. Scope `sync`.' })
  @ApiOkResponse({ description: 'what happened to every entry', type: SyncResultDto, headers: REVISION_HEADERS })
  @ApiProblems('CONFIRM_REMOVALS', 'INVALID_REQUEST', 'LIMIT_EXCEEDED')
  async sync(@By() by: Author, @Body() body: SyncDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    const dryRun = body.dryRun ?? false;
    const { result, revision } = await this.syncs.sync(by, {
      source: body.source,
      mode: body.mode ?? 'full',
      format: body.format ?? 'toolcrib',
      namespace: body.namespace ?? null,
      confirmRemovals: body.confirmRemovals ?? false,
      categories: body.categories ?? null,
      tools: body.tools,
    }, dryRun);
    reply.header('x-toolcrib-revision', String(revision));
    return syncResult(result, revision, dryRun);
  }

  @Get()
  @Access('any-key')
  @ApiOperation({ summary: 'List tools', description: 'Every registered tool, whatever its visibility or availability, by (effective `sort`, `name`). Any scope.' })
  @ApiOkResponse({ description: 'a page of tools', type: ToolPageDto })
  @ApiProblems('INVALID_QUERY')
  async list(@Tenant() tenant: TenantId, @Query() query: ToolQueryDto): Promise<Page<unknown>> {
    const { search, toolset, source, status, capability, visibility, core, availability } = query;
    const [sort, name] = placeOf(query, ['number', 'string']) ?? [];
    const limit = limitOf(query);
    const found = await this.tools.list(tenant, {
      search, toolset, source, status, capability, visibility,
      core: core === undefined ? undefined : core === 'true',
      available: availability === undefined ? undefined : availability === 'available',
    });
    const after = sort === undefined ? found : found.filter((tool) => tool.effective.sort - Number(sort) > 0 || (tool.effective.sort === sort && byText(tool.name, String(name)) > 0));
    const page = pageOf(after, limit, ({ effective }) => [effective.sort, effective.name]);
    return { items: page.items.map(toolView), nextCursor: page.nextCursor };
  }

  @Get(':name')
  @Access('any-key')
  @ApiOperation({ summary: 'Read one tool', description: 'Declaration, overrides, and the effective values that decide. Any scope.' })
  @ApiParam(NAME_PARAM)
  @ApiLink({ from: ToolPageDto, fromField: 'items/0/name', routeParam: 'name' })
  @ApiLink({ from: ToolDto, fromField: 'name', routeParam: 'name' })
  @ApiOkResponse({ description: 'the tool', type: ToolDto, headers: ETAG_HEADERS })
  @ApiProblems('TOOL_NOT_FOUND')
  async get(@Tenant() tenant: TenantId, @Param('name') name: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    const tool = await this.tools.get(tenant, name);
    reply.header('etag', etagOf(tool.record.revision));
    return toolView(tool);
  }

  @Patch(':name')
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({ summary: 'Override what a source says of its tool', description: 'A value overrides, null takes the override back, absent leaves. Scope `governance:write`.' })
  @ApiParam(NAME_PARAM)
  @ApiLink({ from: ToolDto, fromField: 'name', routeParam: 'name' })
  @ApiHeader(IF_MATCH)
  @ApiOkResponse({ description: 'the tool after the change', type: ToolDto, headers: { ...ETAG_HEADERS, ...REVISION_HEADERS } })
  @ApiProblems('TOOL_NOT_FOUND', 'PRECONDITION_FAILED', 'IF_MATCH_REQUIRED')
  async patch(
    @By() by: Author,
    @Param('name') name: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Body() patch: GovernancePatchDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    const { result, revision } = await this.tools.patch(by, name, ifMatch, patch);
    reply.headers({ etag: etagOf(result.record.revision), 'x-toolcrib-revision': String(revision) });
    return toolView(result);
  }

  @Delete(':name')
  @HttpCode(204)
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({ summary: 'Forget a tool that its source gave up', description: 'With its overrides. Scope `governance:write`.' })
  @ApiParam(NAME_PARAM)
  @ApiLink({ from: ToolDto, fromField: 'name', routeParam: 'name' })
  @ApiNoContentResponse({ description: 'it is forgotten', headers: REVISION_HEADERS })
  @ApiProblems('TOOL_NOT_FOUND', 'TOOL_AVAILABLE')
  async delete(@By() by: Author, @Param('name') name: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    const { revision } = await this.tools.delete(by, name);
    reply.header('x-toolcrib-revision', String(revision));
  }
}

const syncResult = ({ added, updated, unchanged, missing, restored, rejected, warnings }: SyncPlan, revision: number, dryRun: boolean): unknown => ({
  revision, dryRun, added, updated, unchanged: unchanged.length, missing, restored, rejected, warnings,
});
