import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isInternal } from '../../src/core/catalog.js';
import { check } from '../../src/core/check.js';
import { decide } from '../../src/core/decide.js';
import { explain } from '../../src/core/explain.js';
import { own } from '../../src/core/json.js';
import { DEFAULT_INCLUDE } from '../../src/core/request.js';
import { offeringIn, situation, subjectIn } from './arbitraries.js';

const FIT = () => [];

describe('INVARIANT (explain tells the verdict)', () => {
  it('of decide and of check for every tool, and its trail ends where that was given', () => {
    fc.assert(fc.property(situation(), (given) => {
      const [subject, offering] = [subjectIn(given), offeringIn(given)];
      const { initialTools, searchableTools, toolRuntimeRoutes = {}, disabledReasons = {} } = decide(subject, { offering, include: DEFAULT_INCLUDE, format: null, nativeDeferral: false }, 'en');
      for (const tool of subject.view.tools) {
        const { verdict, route, trail } = explain(tool, subject, { asked: given.asked, offering }, 'en');
        const { revision: _, route: itsRoute, ...checked } = check(subject, { toolName: tool.name, offering, format: null }, FIT, 'en');
        expect({ verdict, route }).toEqual({ verdict: checked, route: itsRoute });
        expect(route ?? undefined).toEqual(own(toolRuntimeRoutes, tool.name));
        expect(verdict.allowed).toBe(initialTools.includes(tool.name));
        const { allowed: __, ...reason } = verdict;
        if (!verdict.allowed && !isInternal(tool)) expect(searchableTools.includes(tool.name) ? 'exposure' : own(disabledReasons, tool.name)).toEqual(verdict.stage === 'exposure' ? 'exposure' : reason);

        const refused = trail.filter(({ result }) => result === 'refused');
        const at = trail.findIndex(({ result }) => result === 'refused');
        expect(refused.map(({ stage, code }) => [stage, code])).toEqual(verdict.allowed ? [] : [[verdict.stage, isInternal(tool) ? 'INTERNAL_TOOL' : verdict.code]]);
        expect(trail.map(({ result }) => result)).toEqual(trail.map((___, i) => (at < 0 || i < at ? 'passed' : i === at ? 'refused' : 'not_reached')));
        for (const { result, facts } of trail) {
          if (result === 'not_reached') expect(facts).toEqual([]);
          else expect(facts.length).toBeGreaterThan(0);
          expect(facts).toEqual(JSON.parse(JSON.stringify(facts)));
        }
      }
    }), { numRuns: 400 });
  });
});
