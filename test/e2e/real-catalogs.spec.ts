import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { example, mcpCatalogs, mcpSync } from '../support/catalogs.js';
import { DATABASES } from '../support/databases.js';
import type { TestService, TestTenant } from '../support/test-service.js';
import { newTenant, startTestService } from '../support/test-service.js';

describe.each(DATABASES)('real input, $name', (kind) => {
  let service: TestService;
  let tenant: TestTenant;
  beforeAll(async () => {
    service = await startTestService(kind);
    tenant = await newTenant(service);
  });
  afterAll(() => service.close());

  it('the example catalog is taken whole, and its agents with it', async () => {
    const catalog = example('catalog');
    const { body } = await tenant.caller.post('/v1/tools/sync', catalog);
    expect(body).toMatchObject({ rejected: [], warnings: [] });
    expect(body.added.length).toBeGreaterThanOrEqual(45);
    const toolsets = (await tenant.caller.get('/v1/toolsets')).body.items.map(({ toolset }: { toolset: string }) => toolset);
    expect(toolsets).toEqual(['base', 'crew', 'document', 'interaction', 'memory', 'mysql', 'planning', 'skill', 'vision']);
    const { agents } = example('agents');
    const imported = await tenant.caller.post('/v1/agents/import', { agents });
    expect(imported.body.results.map(({ status }: { status: string }) => status)).toEqual(agents.map(() => 'imported'));
    // An old document closes tools of its own toolsets: conversion keeps both, and says so.
    const warnings = imported.body.results.flatMap((result: { agentId: string; warnings: { code: string }[] }) => result.warnings.map(({ code }) => `${result.agentId} ${code}`));
    expect(warnings).toEqual(['legacy-writer IN_BOTH_LISTS', 'legacy-analyst IN_BOTH_LISTS']);
    const origins = (await tenant.caller.get('/v1/agents')).body.items.map(({ origin }: { origin: string }) => origin);
    expect([origins.length >= 6, origins.filter((origin: string) => origin === 'legacy').length]).toEqual([true, 2]);
    for (const { agentId } of agents) expect((await tenant.caller.post('/v1/decide', { agentId })).body.toolNames.length).toBeGreaterThan(0);
  });

  const whereThereAre = mcpCatalogs().length > 0 ? it : it.skip;
  whereThereAre('every tool list of the real MCP servers syncs as it is, nothing rejected, and again without a change', async () => {
    for (const catalog of mcpCatalogs()) {
      const { body } = await tenant.caller.post('/v1/tools/sync', mcpSync(catalog));
      expect({ server: catalog.server, rejected: body.rejected, added: body.added.length }).toEqual({ server: catalog.server, rejected: [], added: catalog.tools.length });
      const again = await tenant.caller.post('/v1/tools/sync', mcpSync({ ...catalog, tools: [...catalog.tools].reverse() }));
      expect(again.body).toMatchObject({ revision: body.revision, added: [], updated: [], missing: [], unchanged: catalog.tools.length });
    }
  });
});
