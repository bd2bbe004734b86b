import type { ConversationInput } from '../core/snapshot.js';
import type { Limits } from '../platform/config/config.js';
import type { ReadBody } from '../policy/body-reader.js';
import { bodyReader } from '../policy/body-reader.js';
import type { LoadInput } from './conversations.service.js';
import { createSchema, loadSchema } from './conversation.schema.js';

/** Reads the bodies of conversations by their compiled schemas. */
export class ConversationReader {
  readonly readCreate: ReadBody<ConversationInput>;
  readonly readLoad: ReadBody<LoadInput>;

  constructor(limits: Limits) {
    this.readCreate = bodyReader(createSchema(limits));
    this.readLoad = bodyReader(loadSchema(limits));
  }
}
