import { Controller, Get, Headers, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CHANGE_KINDS } from '../core/changes.js';
import { AppError } from '../platform/errors/app-error.js';
import { ApiProblems } from '../platform/http/api-problems.dto.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { AccessWatch } from '../tenancy/access-watch.js';
import { ChangeStreams } from './change-streams.js';
import { resyncFrame, revisionFrames } from './frames.js';

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that hold back what is not complete would hold back every event.
  'x-accel-buffering': 'no',
  // Nothing follows a stream on its connection.
  connection: 'close',
};

const EXAMPLE = Buffer.concat([revisionFrames([{ revision: 7, kind: 'agent', ids: ['researcher'] }, { revision: 8, kind: 'catalog', ids: ['mysql_query'] }]), resyncFrame(1_250)]).toString();

/** One event as a reader of the stream has it: `data` is JSON in a text. */
const event = (name: string, data: Record<string, object>): object => ({
  type: 'object',
  required: ['event', 'id', 'data'],
  properties: {
    event: { type: 'string', enum: [name], example: name },
    id: { type: 'string', pattern: '^[0-9]+$', description: 'the revision, for `Last-Event-ID`', example: '7' },
    data: { type: 'string', contentMediaType: 'application/json', contentSchema: { type: 'object', required: Object.keys(data), properties: data } },
  },
});

const REVISION = { type: 'integer', description: 'the revision of the tenant', example: 7 };

/** Before OpenAPI 3.2 the schema of a stream is read as that of each of its events (ADR 0019). */
const EVENT = {
  oneOf: [
    event('revision', {
      revision: REVISION,
      kind: { type: 'string', enum: [...CHANGE_KINDS], description: 'what was changed', example: 'agent' },
      ids: { type: 'array', items: { type: 'string' }, description: 'the names of the tools, or the id of the agent; none for settings', example: ['researcher'] },
    }),
    event('resync', { revision: REVISION }),
  ],
};

const DESCRIPTION = `Server-Sent Events: one \`revision\` for every revision of the tenant, in order, whichever replica wrote it. \`data\` is
\`{"revision": 7, "kind": "catalog" | "agent" | "settings", "ids": […]}\`: the names of the tools that were touched, or the id of the agent; none for settings.
With \`Last-Event-ID\` all that came after it is told first. Where that can not be told one by one (too much, or kept no longer) a single \`resync\` comes in its
place, \`{"revision": 1250}\`: read anew what you hold; the stream goes on from there. Comments keep the connection alive. A client that does not read is cut
off, and the stream ends with the key that opened it; come back with the last id. Scope \`decide\` or \`governance:read\`.`;

/** Of any size: what the tenant has not come to is told by a resync. */
function placeIn(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (!/^\d+$/u.test(header)) throw new AppError('INVALID_HEADER', '`Last-Event-ID` must be a revision: a whole number');
  return Math.min(Number(header), Number.MAX_SAFE_INTEGER);
}

@ApiTags('changes')
@Controller('v1/changes')
export class ChangesController {
  constructor(
    private readonly streams: ChangeStreams,
    private readonly access: AccessWatch,
  ) {}

  @Get()
  @Access({ anyOf: ['decide', 'governance:read'] })
  @ApiOperation({ summary: 'Be told of changes as they happen', description: DESCRIPTION })
  @ApiHeader({ name: 'Last-Event-ID', description: 'the id of the last event that you have; an `EventSource` sends it by itself', required: false, schema: { type: 'string', pattern: '^[0-9]+$', example: '6' } })
  @ApiOkResponse({
    description: 'the stream, which does not end by itself',
    headers: { 'X-Toolcrib-Revision': { description: 'the tenant’s revision when the stream began', schema: { type: 'string', example: '6' } } },
    content: { 'text/event-stream': { schema: EVENT, example: EXAMPLE } },
  })
  @ApiProblems('INVALID_HEADER', 'TOO_MANY_STREAMS')
  async open(@Tenant() tenant: TenantId, @Headers('last-event-id') last: string | undefined, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const after = placeIn(last);
    // Its headers, without an answer that would have to end at once.
    if (request.method === 'HEAD') return void reply.headers(HEADERS).send('');
    await this.streams.begin(tenant, after, {
      respond: (revision) => {
        reply.hijack();
        return reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...HEADERS, 'x-toolcrib-revision': String(revision) });
      },
      watch: (end) => this.access.watch(request, end),
    });
  }
}
