import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiLink, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { metadataOf } from '../core/loading-state.js';
import { isConversationId } from '../core/snapshot.js';
import { DEFAULT_LIMITS } from '../platform/config/config.js';
import { AppError } from '../platform/errors/app-error.js';
import { ApiProblems } from '../platform/http/api-problems.dto.js';
import { lineSchema } from '../platform/http/field-rules.js';
import { requireNoBody } from '../platform/http/strict-validation.pipe.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, Tenant } from '../tenancy/access.js';
import { CompressedDto, ConversationDto, LoadAnswerDto } from './conversation.dto.js';
import { ConversationReader } from './conversation-reader.js';
import { createSchema, loadSchema } from './conversation.schema.js';
import type { Compressed, LoadAnswer, ShownConversation } from './conversations.service.js';
import { ConversationsService } from './conversations.service.js';

const ID = { name: 'conversationId', description: 'the runtime’s own id of the conversation', schema: { ...lineSchema(256), example: 'c-2041' } };

/** A conversation as it is answered. */
export const shownConversation = ({ conversation: { conversationId, agentId, state, catalogText }, toolLoading }: ShownConversation): Record<string, unknown> =>
  ({ conversationId, agentId, toolLoading, catalogText, metadata: { tool_loading: metadataOf(state) } });

@ApiTags('conversations')
@Access({ anyOf: ['decide'] })
@Controller('v1/conversations/:conversationId/tool-loading')
export class ConversationsController {
  constructor(
    private readonly conversations: ConversationsService,
    private readonly reader: ConversationReader,
  ) {}

  @Put()
  @ApiOperation({ summary: 'Begin a conversation', description: 'Pins what is deferred in it. The same request again answers what it made; another one is refused. Scope `decide`.' })
  @ApiParam(ID)
  @ApiBody({ schema: createSchema(DEFAULT_LIMITS) })
  @ApiCreatedResponse({ description: 'the conversation that was made', type: ConversationDto })
  @ApiOkResponse({ description: 'the conversation that was there', type: ConversationDto })
  @ApiProblems('AGENT_NOT_FOUND', 'CONVERSATION_OF_OTHER_AGENT', 'CONVERSATION_EXISTS', 'INVALID_REQUEST', 'UNKNOWN_PARENT', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  async create(@Tenant() tenant: TenantId, @Param('conversationId') id: string, @Body() body: unknown, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const input = this.reader.readCreate(body);
    if (!isConversationId(id)) throw new AppError('INVALID_REQUEST', 'a conversation’s id has 1 to 256 characters and no control characters');
    const shown = await this.conversations.create(tenant, id, input);
    reply.status(shown.created ? 201 : 200);
    return shownConversation(shown);
  }

  @Get()
  @ApiOperation({ summary: 'Read a conversation', description: 'Its state and the text that was frozen at creation. Scope `decide`.' })
  @ApiParam(ID)
  @ApiLink({ from: ConversationDto, fromField: 'conversationId', routeParam: 'conversationId' })
  @ApiOkResponse({ description: 'the conversation', type: ConversationDto })
  @ApiProblems('CONVERSATION_NOT_FOUND', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  async get(@Tenant() tenant: TenantId, @Param('conversationId') id: string): Promise<object> {
    return shownConversation(await this.conversations.get(tenant, id));
  }

  @Delete()
  @HttpCode(204)
  @ApiOperation({ summary: 'End a conversation', description: 'Forgets its snapshot. Scope `decide`.' })
  @ApiParam(ID)
  @ApiLink({ from: ConversationDto, fromField: 'conversationId', routeParam: 'conversationId' })
  @ApiNoContentResponse({ description: 'it is gone' })
  @ApiProblems('CONVERSATION_NOT_FOUND', 'DATABASE_UNAVAILABLE')
  delete(@Tenant() tenant: TenantId, @Param('conversationId') id: string): Promise<void> {
    return this.conversations.delete(tenant, id);
  }

  @Post('load')
  @HttpCode(200)
  @ApiOperation({ summary: 'Load deferred tools', description: 'What `load_tools` does: each name gets a status, and loads at the same time all stay. Decided on the catalog of now. Scope `decide`.' })
  @ApiParam(ID)
  @ApiLink({ from: ConversationDto, fromField: 'conversationId', routeParam: 'conversationId' })
  @ApiBody({ schema: loadSchema(DEFAULT_LIMITS) })
  @ApiOkResponse({ description: 'a status for each name, and the definitions', type: LoadAnswerDto })
  @ApiProblems('CONVERSATION_NOT_FOUND', 'NOTHING_LOADED', 'INVALID_REQUEST', 'UNKNOWN_PARENT', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  load(@Tenant() tenant: TenantId, @Param('conversationId') id: string, @Body() body: unknown): Promise<LoadAnswer> {
    return this.conversations.load(tenant, id, this.reader.readLoad(body));
  }

  @Post('compression')
  @HttpCode(200)
  @ApiOperation({ summary: 'Begin again after a compression', description: 'The runtime has compressed its context, definitions included: nothing counts as loaded any more. Takes no body. Scope `decide`.' })
  @ApiParam(ID)
  @ApiLink({ from: ConversationDto, fromField: 'conversationId', routeParam: 'conversationId' })
  @ApiOkResponse({ description: 'the state after, and what was loaded before', type: CompressedDto })
  @ApiProblems('CONVERSATION_NOT_FOUND', 'INVALID_REQUEST', 'TOO_STALE', 'DATABASE_UNAVAILABLE')
  compress(@Tenant() tenant: TenantId, @Param('conversationId') id: string, @Req() { body }: FastifyRequest): Promise<Compressed> {
    requireNoBody(body);
    return this.conversations.compress(tenant, id);
  }
}
