import { describe, expect, it } from '@jest/globals';
import type { ConversationStates } from '../conversations/conversation-states.js';
import { normaliseDocument } from '../core/agent-document.js';
import type { PolicyDelta } from '../core/policy-view.js';
import { DEFAULT_SETTINGS } from '../core/settings.js';
import { LibraryEngines } from '../engines/library-engines.js';
import { Metrics } from '../platform/observability/metrics.js';
import type { TenantId } from '../platform/tenant-id.js';
import { PolicyLoader } from '../policy/policy.loader.js';
import { PolicyViews } from '../policy/policy-views.js';
import { Subjects } from '../policy/subjects.js';
import { DecisionService } from './decision.service.js';
import { Grounds } from './grounds.js';

const TENANT = 't' as TenantId;

/** A policy of one agent, whose revision the test moves. */
class MovedLoader extends PolicyLoader {
  revision = 1;

  override load(): Promise<PolicyDelta> {
    const { revision } = this;
    const agents = [{ agentId: 'm', document: normaliseDocument('m', {}), origin: 'native' as const, legacy: null, revision, updatedAt: '' }];
    return Promise.resolve({ incarnation: 'i', revision, settings: DEFAULT_SETTINGS, settingsRevision: 0, complete: true, tools: [], categories: [], agents });
  }
}

const setUp = () => {
  const loader = new MovedLoader();
  const clock = { now: 1_000 };
  const views = new PolicyViews(loader, new Metrics(), 30_000, () => clock.now);
  const engines = new LibraryEngines();
  return { loader, clock, views, decisions: new DecisionService(new Grounds(views, {} as ConversationStates), new Subjects(engines), engines) };
};

describe('a batch', () => {
  it.each(['here', 'elsewhere'])('answers what comes after a write that was made %s meanwhile by that write', async (where) => {
    const { loader, clock, views, decisions } = setUp();
    const write = (): string => {
      loader.revision += 1;
      if (where === 'here') views.noteCommit(TENANT);
      else clock.now += 600;
      return 'written';
    };
    const requests = ['m', 'nobody', 'm', 'nobody', 'm'].map((agentId) => () => ({ agentId }));
    const answers = await decisions.decideAll(TENANT, requests, 'en', { ok: ({ revision, freshness }) => `${freshness} ${revision}`, failed: write });
    expect(answers).toEqual(['fresh 1', 'written', 'fresh 2', 'written', 'fresh 3']);
  });
});
