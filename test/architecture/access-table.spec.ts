import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { AccessRule } from '../../src/tenancy/access.js';
import { SCOPES, impliedScopes } from '../../src/tenancy/scope.js';

interface Operation {
  readonly summary: string;
  readonly 'x-access': AccessRule | 'public';
}

const MARKS = ['<!-- Written by test/architecture/access-table.spec.ts from the access rules: begin -->', '<!-- end -->'] as const;

/** Who opens the route: `●` does, and `·` does not. The rules come from the document, which is built of what the guard reads. */
function row(method: string, route: string, { summary, 'x-access': rule }: Operation): string {
  const isOpen = (scope: (typeof SCOPES)[number]): boolean => {
    if (rule === 'public' || rule === 'any-key') return true;
    return rule !== 'platform' && rule.anyOf.some((one) => impliedScopes([scope]).has(one));
  };
  const cells = [rule === 'public', ...SCOPES.map(isOpen), true].map((opens) => (opens ? '●' : '·'));
  return `| ${[`\`${method.toUpperCase()} ${route}\``, summary, ...cells].join(' | ')} |`;
}

function table(): string {
  const { paths } = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as { paths: Record<string, Record<string, Operation>> };
  const rows = Object.entries(paths).flatMap(([route, item]) => Object.entries(item).filter(([, operation]) => 'x-access' in operation).map(([method, operation]) => row(method, route, operation)));
  return [`| route | what | no key | ${SCOPES.map((scope) => `\`${scope}\``).join(' | ')} | platform |`, `|---|---|${'---|'.repeat(SCOPES.length + 2)}`, ...rows].join('\n');
}

describe('docs/security.md', () => {
  const text = readFileSync('docs/security.md', 'utf8');

  it('tells of every route which keys open it', () => {
    const [begin, end] = MARKS;
    expect(text).toContain(begin);
    expect(text.slice(text.indexOf(begin) + begin.length, text.indexOf(end)).trim()).toBe(table());
  });

  it('says of every scope what a thief can do with it', () => {
    for (const scope of [...SCOPES, 'platform key']) expect(text).toMatch(new RegExp(`^\\| \\**\`?${scope}\`?\\**[^|]*\\|`, 'mu'));
  });
});
