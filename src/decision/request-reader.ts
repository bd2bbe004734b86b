import { isObject } from '../core/json.js';
import type { Drafts } from '../core/preview.js';
import type { CheckInput, DecideInput, SearchInput, TurnInput } from '../core/request.js';
import type { Limits } from '../platform/config/config.js';
import { AppError } from '../platform/errors/app-error.js';
import type { ReadBody } from '../policy/body-reader.js';
import { bodyReader } from '../policy/body-reader.js';
import type { WithMinRevision } from './grounds.js';
import { batchSchema, checkSchema, decideSchema, explainSchema, previewSchema, searchSchema } from './request.schema.js';

/** A decide request whose agent stands in the path. */
type OfPathAgent = Omit<DecideInput, 'agentId'> & WithMinRevision;


/** Reads the bodies of the hot path by their compiled schemas. Each throws `INVALID_REQUEST` with every fault. */
export class RequestReader {
  readonly readDecide: ReadBody<DecideInput & WithMinRevision>;
  readonly readCheck: ReadBody<CheckInput & WithMinRevision>;
  readonly readSearch: ReadBody<SearchInput & WithMinRevision>;
  readonly readExplain: ReadBody<OfPathAgent>;
  /** The drafts in it are not looked into: their shape is that of saving. */
  readonly readPreview: ReadBody<OfPathAgent & { readonly [K in keyof Drafts]?: unknown }>;
  private readonly batch: ReadBody<{ readonly requests: readonly unknown[] }>;

  constructor(private readonly limits: Limits) {
    this.readDecide = ofOneState(bodyReader(decideSchema(limits)));
    this.readCheck = ofOneState(bodyReader(checkSchema(limits)));
    this.readSearch = ofOneState(bodyReader(searchSchema(limits)));
    this.readExplain = ofOneState(bodyReader(explainSchema(limits)));
    this.readPreview = ofOneState(bodyReader(previewSchema(limits, { draft: {}, draftAgentTools: {}, draftToolOverride: {} })));
    this.batch = bodyReader(batchSchema(limits));
  }

  readBatch(body: unknown): readonly unknown[] {
    const requests = isObject(body) ? body['requests'] : undefined;
    if (Array.isArray(requests) && requests.length > this.limits.batchSize) {
      throw new AppError('LIMIT_EXCEEDED', `a batch holds at most ${this.limits.batchSize} requests`);
    }
    return this.batch(body).requests;
  }
}

/** A conversation keeps its own state: a second one beside it would have to be ignored. */
function ofOneState<T extends Omit<TurnInput, 'agentId'>>(read: ReadBody<T>): ReadBody<T> {
  return (body) => {
    const input = read(body);
    const isThere = (member: 'toolLoading' | 'discovered'): boolean => (input[member] ?? null) !== null;
    const stray = (input.conversationId ?? null) === null ? undefined : (['toolLoading', 'discovered'] as const).find(isThere);
    if (stray === undefined) return input;
    throw new AppError('INVALID_REQUEST', `\`${stray}\` can not stand beside \`conversationId\``, [{ path: `/${stray}`, message: 'the conversation keeps its own' }]);
  };
}
