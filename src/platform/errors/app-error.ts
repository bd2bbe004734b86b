/** Every way in which a request can fail, with its status and title: the one error table. */
export const ERRORS = {
  INVALID_JSON: { status: 400, title: 'the body is not JSON' },
  INVALID_QUERY: { status: 400, title: 'the query is not valid' },
  INVALID_HEADER: { status: 400, title: 'a header is not valid' },
  BAD_REQUEST: { status: 400, title: 'the request is not valid HTTP' },
  TENANT_REQUIRED: { status: 400, title: 'no tenant is named' },
  UNAUTHENTICATED: { status: 401, title: 'a valid key or token is needed' },
  FORBIDDEN: { status: 403, title: 'the key or token may not do this' },
  NOT_FOUND: { status: 404, title: 'there is no such thing' },
  TENANT_NOT_FOUND: { status: 404, title: 'there is no such tenant' },
  KEY_NOT_FOUND: { status: 404, title: 'there is no such key' },
  TOOL_NOT_FOUND: { status: 404, title: 'there is no such tool' },
  AGENT_NOT_FOUND: { status: 404, title: 'there is no such agent' },
  CONVERSATION_NOT_FOUND: { status: 404, title: 'there is no such conversation' },
  HISTORY_ENTRY_NOT_FOUND: { status: 404, title: 'history has no such entry' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'there is no such method here' },
  REQUEST_TIMEOUT: { status: 408, title: 'the request took too long to arrive' },
  TENANT_EXISTS: { status: 409, title: 'the tenant exists already' },
  TOOL_AVAILABLE: { status: 409, title: 'the tool is still declared by its source' },
  CONFIRM_REMOVALS: { status: 409, title: 'the sync would remove too much' },
  UNKNOWN_TOOLSET: { status: 409, title: 'a toolset is not known' },
  GLOBALLY_DISABLED: { status: 409, title: 'the tool is stopped for every agent' },
  LOCKED: { status: 409, title: 'the tool is locked' },
  TARGET_NOT_AVAILABLE: { status: 409, title: 'the agent behind the tool is not available' },
  CONVERSATION_EXISTS: { status: 409, title: 'the conversation was created otherwise' },
  CONVERSATION_OF_OTHER_AGENT: { status: 409, title: 'the conversation belongs to another agent' },
  CHANGED_SINCE: { status: 409, title: 'the thing has changed since that write' },
  NOT_REVERTIBLE: { status: 409, title: 'that write can not be taken back any more' },
  PRECONDITION_FAILED: { status: 412, title: 'the thing has changed since it was read' },
  BODY_TOO_LARGE: { status: 413, title: 'the body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'the body must be application/json' },
  INVALID_REQUEST: { status: 422, title: 'the body is not what the schema says' },
  LIMIT_EXCEEDED: { status: 422, title: 'a limit is exceeded' },
  NOTHING_LOADED: { status: 422, title: 'none of the names can be loaded' },
  UNKNOWN_PARENT: { status: 422, title: 'the parent agent is not known' },
  IF_MATCH_REQUIRED: { status: 428, title: 'If-Match is missing' },
  TOO_MANY_REQUESTS: { status: 429, title: 'too many requests in too short a time' },
  HEADERS_TOO_LARGE: { status: 431, title: 'the headers are too large' },
  INTERNAL: { status: 500, title: 'something went wrong' },
  OVERLOADED: { status: 503, title: 'there is too much to do here now' },
  ISSUER_UNAVAILABLE: { status: 503, title: 'the issuer of tokens can not be reached' },
  DATABASE_UNAVAILABLE: { status: 503, title: 'the database can not be reached' },
  TOO_STALE: { status: 503, title: 'what is known is too old to answer from' },
  TOO_MANY_STREAMS: { status: 503, title: 'no more streams can be opened here now' },
  REVISION_NOT_REACHED: { status: 503, title: 'the revision is not reached yet' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** Where in the body something is wrong (a JSON Pointer), and what. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

/** A failure that the caller is told of. `detail` is lower case, without a full stop, with input in backticks. */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly errors?: readonly FieldFault[],
    /** Of `NOTHING_LOADED`: what can be loaded instead. */
    readonly pending?: readonly string[],
  ) {
    super(`${code}: ${detail}`);
  }
}

/** One sentence whatever is wrong with a key or a token, so that none tells more than another. */
export const invalidCredential = (): AppError => new AppError('UNAUTHENTICATED', 'send a valid key as `Authorization: Bearer KEY` or `X-API-Key: KEY`, or a valid token as `Authorization: Bearer TOKEN` where people have them');

/** One sentence wherever a tenant is not found, so that none tells more than another. */
export const tenantNotFound = (): AppError => new AppError('TENANT_NOT_FOUND', 'there is no such tenant');

export const toolNotFound = (name: string): AppError => new AppError('TOOL_NOT_FOUND', `there is no tool \`${name}\``);

export const agentNotFound = (agentId: string): AppError => new AppError('AGENT_NOT_FOUND', `there is no agent \`${agentId}\``);

export const conversationNotFound = (): AppError => new AppError('CONVERSATION_NOT_FOUND', 'there is no such conversation');
