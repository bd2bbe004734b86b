import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiLink, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Change, EntryHead } from '../core/history.js';
import { actorType, summaryOf } from '../core/history.js';
import { redacted } from '../core/redact.js';
import type { Author } from '../platform/author.js';
import { AppError } from '../platform/errors/app-error.js';
import { ApiProblems, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import type { Page } from '../platform/http/page.dto.js';
import { limitOf, pageOf, placeOf } from '../platform/http/page.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, By, Tenant } from '../tenancy/access.js';
import { HistoryEntryDto, HistoryPageDto, HistoryQueryDto, RevertDto, RevertedDto } from './history.dto.js';
import { HistoryService } from './history.service.js';

/** An entry as it is answered. */
export function entryView({ revision, at, actor, requestId, entity, id, action, reverts }: EntryHead, change: Change | null): object {
  const shown = change && redacted(change);
  return {
    revision, at, actor: { type: actorType(actor), ...actor }, requestId, entity, id, action, reverts,
    before: shown?.before ?? null,
    after: shown?.after ?? null,
    plan: shown?.entity === 'sync' ? summaryOf(shown) : null,
    abridged: shown === null,
  };
}

const REVISION = { name: 'revision', description: 'of the entry', schema: { type: 'integer' as const, minimum: 1, example: 17 } };

/** What is no revision is none that history has. */
function revisionIn(text: string): number {
  if (!/^[1-9]\d{0,14}$/u.test(text)) throw new AppError('HISTORY_ENTRY_NOT_FOUND', `\`${text}\` is no revision`);
  return Number(text);
}

/** No entry is older than the epoch, and not every database knows the years that a text can name. */
const moment = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(Math.max(0, Date.parse(text))));

function placeIn(query: HistoryQueryDto): number | null {
  const [before = null] = placeOf(query, ['number']) ?? [];
  if (before !== null && !Number.isSafeInteger(before)) throw new AppError('INVALID_QUERY', '`cursor` must be the `nextCursor` of a page');
  return before as number | null;
}

@ApiTags('history')
@Controller('v1/history')
export class HistoryController {
  constructor(private readonly history: HistoryService) {}

  @Get()
  @Access({ anyOf: ['governance:read'] })
  @ApiOperation({ summary: 'List who changed what', description: 'An entry for every governance write, the newest first. Entries too large for a list are `abridged`. Scope `governance:read`.' })
  @ApiOkResponse({ description: 'a page of entries', type: HistoryPageDto })
  @ApiProblems('INVALID_QUERY')
  async list(@Tenant() tenant: TenantId, @Query() query: HistoryQueryDto): Promise<Page<object>> {
    const { entity, id, actor, from, to } = query;
    const limit = limitOf(query);
    const found = await this.history.list(tenant, { entity, id, actor, from: moment(from), to: moment(to) }, placeIn(query), limit + 1);
    const { items, nextCursor } = pageOf(found, limit, ({ revision }) => [revision]);
    return { items: items.map((entry) => entryView(entry, entry.change)), nextCursor };
  }

  @Get(':revision')
  @Access({ anyOf: ['governance:read'] })
  @ApiOperation({ summary: 'Read one entry', description: 'Whole, whatever its size. Members of `extra` and `annotations` that are called like a secret are not shown. Scope `governance:read`.' })
  @ApiLink({ from: HistoryPageDto, fromField: 'items/0/revision', routeParam: 'revision' })
  @ApiParam(REVISION)
  @ApiOkResponse({ description: 'the entry', type: HistoryEntryDto, headers: REVISION_HEADERS })
  @ApiProblems('HISTORY_ENTRY_NOT_FOUND')
  async get(@Tenant() tenant: TenantId, @Param('revision') revision: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const entry = await this.history.get(tenant, revisionIn(revision));
    reply.header('x-toolcrib-revision', String(entry.revision));
    return entryView(entry, entry);
  }

  @Post(':revision/revert')
  @HttpCode(200)
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({
    summary: 'Take one change back',
    description: 'Puts back what that one write changed, as a write of its own that history has too. Refused when the thing changed since, unless `force`. A new agent is deleted by it, a deleted one comes back (its conversations do not); a sync is taken back for exactly the tools that it touched, whose overrides stay. Scope `governance:write`.',
  })
  @ApiLink({ from: HistoryPageDto, fromField: 'items/0/revision', routeParam: 'revision' })
  @ApiLink({ from: HistoryEntryDto, fromField: 'revision', routeParam: 'revision' })
  @ApiParam(REVISION)
  @ApiBody({ type: RevertDto, examples: { 'unless it changed since': { value: {} }, 'whatever happened since': { value: { force: true } } } })
  @ApiOkResponse({ description: 'what was taken back', type: RevertedDto, headers: REVISION_HEADERS })
  @ApiProblems('HISTORY_ENTRY_NOT_FOUND', 'CHANGED_SINCE', 'NOT_REVERTIBLE', 'LIMIT_EXCEEDED')
  async revert(@By() by: Author, @Param('revision') text: string, @Body() { force }: RevertDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const { result, revision } = await this.history.revert(by, revisionIn(text), force ?? false);
    reply.header('x-toolcrib-revision', String(revision));
    return { revision, ...result };
  }
}
