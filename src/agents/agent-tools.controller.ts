import { Body, Controller, Get, HttpCode, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiLink, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { STATES } from '../core/agent-state.js';
import { BULK_ACTIONS, isBulkAction } from '../core/bulk-actions.js';
import type { EditorView } from '../core/editor-view.js';
import type { Author } from '../platform/author.js';
import { AppError } from '../platform/errors/app-error.js';
import { ApiProblems, ETAG_HEADERS, REVISION_HEADERS } from '../platform/http/api-problems.dto.js';
import { languageOf } from '../platform/http/request-context.js';
import { requireNoBody } from '../platform/http/strict-validation.pipe.js';
import type { TenantId } from '../platform/tenant-id.js';
import { Access, By, Tenant } from '../tenancy/access.js';
import { EditorQueryDto, EditorViewDto, SwitchDto, SwitchedDto } from './agent-tools.dto.js';
import { AgentToolsService } from './agent-tools.service.js';
import { AGENT_PARAM, savedAnswer } from './agents.controller.js';
import { AgentDto, SavedAgentDto } from './agents.dto.js';

const NAME_PARAM = { name: 'name', description: 'the exact name of the tool; a `/` in it is sent as `%2F`', example: 'web_search' };
const ACTION_PARAM = { name: 'action', description: 'what is done to the lists', enum: BULK_ACTIONS, example: 'restore-core-defaults' };
const SWITCH_EXAMPLES = { 'turn it off': { value: { on: false } }, 'turn it on again': { value: { on: true } } };

@ApiTags('agents')
@Controller('v1/agents/:agentId')
export class AgentToolsController {
  constructor(private readonly tools: AgentToolsService) {}

  @Get('tools')
  @Access({ anyOf: ['governance:read'] })
  @ApiOperation({
    summary: 'Show the tools of an agent as its editor does',
    description: 'From governance and document alone, without the context of a turn: how each tool stands with the agent, what its switch does, and what still keeps it away. Labels are Chinese for `Accept-Language: zh`, else English. Scope `governance:read`.',
  })
  @ApiParam(AGENT_PARAM)
  @ApiLink({ from: AgentDto, fromField: 'agentId', routeParam: 'agentId' })
  @ApiOkResponse({ description: 'the view', type: EditorViewDto, headers: REVISION_HEADERS })
  @ApiProblems('INVALID_QUERY', 'AGENT_NOT_FOUND')
  async editor(
    @Tenant() tenant: TenantId,
    @Param('agentId') agentId: string,
    @Query() { search, status, core }: EditorQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EditorView> {
    const filter = { search, status, core: core === undefined ? undefined : core === 'true' };
    const view = await this.tools.editor(tenant, agentId, filter, languageOf(request));
    reply.header('x-toolcrib-revision', String(view.revision));
    return view;
  }

  @Put('tools/:name/switch')
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({
    summary: 'Turn one tool on or off for an agent',
    description: 'Writes the smallest document that says so. Of many switches at once each takes effect, and none needs `If-Match`. One that changes nothing bumps nothing. Scope `governance:write`.',
  })
  @ApiParam(AGENT_PARAM)
  @ApiParam(NAME_PARAM)
  @ApiBody({ type: SwitchDto, examples: SWITCH_EXAMPLES })
  @ApiOkResponse({ description: 'how the tool stands now', type: SwitchedDto, headers: { ...ETAG_HEADERS, ...REVISION_HEADERS } })
  @ApiProblems('AGENT_NOT_FOUND', 'TOOL_NOT_FOUND', 'GLOBALLY_DISABLED', 'TARGET_NOT_AVAILABLE', 'LOCKED')
  async switch(
    @By() by: Author,
    @Param('agentId') agentId: string,
    @Param('name') name: string,
    @Body() { on }: SwitchDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const language = languageOf(request);
    const { result: { state, ...saved }, revision } = await this.tools.switch(by, agentId, name, on, language);
    const { warnings, ...document } = savedAnswer(reply, saved, revision);
    return { state, stateLabel: state && STATES[state][language], document, warnings };
  }

  @Post('actions/:action')
  @HttpCode(200)
  @Access({ anyOf: ['governance:write'] })
  @ApiOperation({
    summary: 'Clear or restore the lists of an agent',
    description: '`restore-core-defaults` inherits the core tools again and takes their names out of both lists; `clear-enabled` and `clear-disabled` empty one. Takes no body and needs no `If-Match`. Scope `governance:write`.',
  })
  @ApiParam(AGENT_PARAM)
  @ApiParam(ACTION_PARAM)
  @ApiLink({ from: AgentDto, fromField: 'agentId', routeParam: 'agentId' })
  @ApiOkResponse({ description: 'the document as it is saved', type: SavedAgentDto, headers: { ...ETAG_HEADERS, ...REVISION_HEADERS } })
  @ApiProblems('NOT_FOUND', 'AGENT_NOT_FOUND', 'INVALID_REQUEST')
  async act(
    @By() by: Author,
    @Param('agentId') agentId: string,
    @Param('action') action: string,
    @Req() { body }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    requireNoBody(body);
    if (!isBulkAction(action)) throw new AppError('NOT_FOUND', `there is no action \`${action}\`: ${BULK_ACTIONS.map((name) => `\`${name}\``).join(', ')} are those there are`);
    const { result, revision } = await this.tools.act(by, agentId, action);
    return savedAnswer(reply, result, revision);
  }
}
