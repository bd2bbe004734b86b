// The loop of an agent runtime, on types made from openapi/openapi.json: decide every turn, check every call.
//   npm run types && npx tsc -p examples/tsconfig.json
//   TOOLCRIB_URL=http://127.0.0.1:3000 TOOLCRIB_KEY=tck_… TOOLCRIB_AGENT=consumer node dist-examples/consumer.js
// Each line of input stands for what a model wants: the name of a tool and its arguments, `read_page {"url": "https://example.org"}`.
// The key needs the scope `decide` alone.
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { Client } from 'openapi-fetch';
import type { components, paths } from './toolcrib-api.js';

type Decision = components['schemas']['DecisionDto'];
type Verdict = components['schemas']['CheckAnswerDto'];
type Problem = components['schemas']['ProblemDto'];
type Code = Problem['code'];

/** A question that was not answered, with the code that says why. */
class Refused extends Error {
  readonly code: Code;

  constructor({ code, detail, requestId }: Problem) {
    super(`${code}: ${detail} (request ${requestId})`);
    this.code = code;
  }
}

const TRIES = 3;

/** What passes by itself, soon: the service says when to come back. Everything else is for whoever wrote the request. */
async function answered(ask: () => Promise<Response>): Promise<Response> {
  for (let left = TRIES; ; left -= 1) {
    const response = await ask();
    if ((response.status !== 503 && response.status !== 429) || left === 1) return response;
    await sleep(1_000 * Number(response.headers.get('retry-after') ?? 1));
  }
}

interface Held {
  readonly etag: string;
  readonly decision: Decision;
}

/** What one agent has, turn by turn. */
export class AgentTools {
  private readonly api: Client<paths>;
  private held: Held | null = null;
  /** The newest revision that an answer has named: no later answer may be from before it, whichever replica gives it. */
  private seen = 0;

  constructor(
    baseUrl: string,
    key: string,
    private readonly agentId: string,
    private readonly conversationId: string,
  ) {
    this.api = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` }, fetch: (request) => answered(() => fetch(request.clone())) });
  }

  /** Pins which tools load later in this conversation. 409 tells of one that was begun otherwise: it goes on as it is. */
  async begin(): Promise<void> {
    const { error } = await this.api.PUT('/v1/conversations/{conversationId}/tool-loading', { params: { path: { conversationId: this.conversationId } }, body: { agentId: this.agentId } });
    if (error !== undefined && error.code !== 'CONVERSATION_EXISTS') throw new Refused(error);
  }

  /** The decision of this turn; the one of the turn before where the service says that it still holds. */
  async turn(): Promise<{ readonly decision: Decision; readonly isNew: boolean }> {
    const { data, error, response } = await this.api.POST('/v1/decide', {
      params: { header: this.held === null ? {} : { 'If-None-Match': this.held.etag } },
      body: { agentId: this.agentId, conversationId: this.conversationId, include: ['reasons', 'routes', 'definitions'] },
    });
    if (response.status === 304 && this.held !== null) return { decision: this.held.decision, isNew: false };
    if (data === undefined) throw new Refused(error);
    this.held = { etag: response.headers.get('etag') ?? '', decision: data };
    this.seen = Math.max(this.seen, data.revision);
    return { decision: data, isNew: true };
  }

  /** Whether this very call may be made now. Where the answer is of a newer revision than the turn, the next turn decides anew. */
  async check(toolName: string, callArguments: unknown): Promise<Verdict> {
    const { data, error } = await this.api.POST('/v1/check', {
      body: { agentId: this.agentId, conversationId: this.conversationId, toolName, arguments: callArguments, minRevision: this.seen },
    });
    if (data === undefined) throw new Refused(error);
    if (data.revision > this.seen) this.held = null;
    this.seen = Math.max(this.seen, data.revision);
    return data;
  }
}

const fromEnvironment = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`set ${name}`);
  return value;
};

/** One turn: what there is goes to the model, what the model wants is checked, and a refusal goes back to it as words. */
async function turn(tools: AgentTools, wanted: string): Promise<void> {
  const { decision, isNew } = await tools.turn();
  console.log(isNew ? `revision ${decision.revision}: ${decision.toolNames.join(', ') || 'no tools'}` : 'not modified');
  const [toolName = '', ...rest] = wanted.split(' ');
  const { allowed, route, message, errors } = await tools.check(toolName, JSON.parse(rest.join(' ') || '{}'));
  if (allowed) console.log(`call ${toolName} (${route?.route ?? 'no route'})`);
  else console.log(`tell the model: ${[message, ...(errors ?? []).map(({ path, message: fault }) => `${path} ${fault}`)].join('; ')}`);
}

const tools = new AgentTools(fromEnvironment('TOOLCRIB_URL'), fromEnvironment('TOOLCRIB_KEY'), fromEnvironment('TOOLCRIB_AGENT'), process.env['TOOLCRIB_CONVERSATION'] ?? `consumer-${process.pid}`);
await tools.begin();
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  // A turn that was not answered ends that turn, not the runtime: its model is told to go on without tools.
  await turn(tools, line).catch((error: unknown) => console.log(error instanceof Refused ? `problem ${error.message}` : String(error)));
}
