import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const FOLDER = 'prisma/migrations';

/**
 * Statements that a build of before may not survive, each with the reason why it does. Taking away what an older build needs
 * is a release of its own, after the one that no longer needs it: docs/upgrade.md.
 */
const EXCEPTIONS: readonly { readonly migration: string; readonly statement: RegExp; readonly why: string }[] = [
  { migration: '20261130120000_tenants_catalog_agents', statement: /^DO \$\$/u, why: 'the first one: no build ran before it' },
];

/** One statement a member, without comments and with what stands in quotes left out. */
const statementsOf = (sql: string): string[] =>
  sql.replace(/\$(\w*)\$.*?\$\1\$|'(?:[^']|'')*'|--[^\n]*|\/\*.*?\*\//gsu, (part) => (part.startsWith('$') ? '$$$$' : part.startsWith("'") ? "''" : ' '))
    .split(';').map((statement) => statement.replace(/\s+/gu, ' ').trim()).filter((statement) => statement !== '');

/** What is in brackets is a matter of the column's type or default alone. */
const withoutBrackets = (statement: string): string => {
  const inner = statement.replace(/\([^()]*\)/gu, ' ');
  return inner === statement ? statement : withoutBrackets(inner);
};

const COLUMN = /^ALTER TABLE \w+ ADD COLUMN (?<column>[^,]+)$/iu;
const INDEX = /^CREATE INDEX \w+ ON \w+ /iu;
const POLICY = /^CREATE POLICY (?!.* AS RESTRICTIVE )/iu;
const OF_TABLE = /^(?:CREATE UNIQUE INDEX \w+ ON|ALTER TABLE) (?<table>\w+)/iu;

/** A column that a writer who does not know it may leave out. */
function isOptionalColumn(statement: string): boolean {
  const column = COLUMN.exec(withoutBrackets(statement))?.groups?.['column'];
  if (column === undefined || /\b(?:UNIQUE|PRIMARY|REFERENCES|CHECK|GENERATED)\b/iu.test(column)) return false;
  return !/\bNOT NULL\b/iu.test(column) || /\bDEFAULT\b/iu.test(column);
}

/** What may be done: anything to a table of the same migration, and to others what neither takes away nor forbids. */
function mayBeBesides(sql: string): string[] {
  const statements = statementsOf(sql);
  const own = new Set(statements.flatMap((statement) => /^CREATE TABLE (\w+)/iu.exec(statement)?.[1] ?? []));
  const adds = (statement: string): boolean =>
    /^(?:CREATE TABLE|GRANT) /iu.test(statement) || INDEX.test(statement) || POLICY.test(statement) || isOptionalColumn(statement);
  return statements.filter((statement) => !adds(statement) && !own.has(OF_TABLE.exec(statement)?.groups?.['table'] ?? ''));
}

describe('migrations expand', () => {
  const names = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name).sort();

  it.each(names)('%s takes nothing away that a build of before needs', (migration) => {
    const allowed = EXCEPTIONS.filter((exception) => exception.migration === migration);
    const strays = mayBeBesides(readFileSync(`${FOLDER}/${migration}/migration.sql`, 'utf8')).filter((statement) => !allowed.some((exception) => exception.statement.test(statement)));
    expect(strays).toEqual([]);
  });

  it('and every exception is still one', () => {
    for (const { migration, statement } of EXCEPTIONS) expect(statementsOf(readFileSync(`${FOLDER}/${migration}/migration.sql`, 'utf8')).some((one) => statement.test(one))).toBe(true);
  });

  it.each([
    'ALTER TABLE tools DROP COLUMN source',
    'ALTER TABLE tools ADD COLUMN x text, DROP COLUMN source',
    'ALTER TABLE tools RENAME COLUMN source TO origin',
    'ALTER TABLE tools RENAME TO instruments',
    'ALTER TABLE tools ALTER COLUMN revision TYPE integer',
    'ALTER TABLE tools ALTER COLUMN governance SET NOT NULL',
    'ALTER TABLE tools ALTER COLUMN governance DROP DEFAULT',
    'ALTER TABLE tools ADD COLUMN x text NOT NULL',
    'ALTER TABLE tools ADD COLUMN x text UNIQUE',
    'ALTER TABLE tools ADD COLUMN x text CHECK (x <> source)',
    'ALTER TABLE tools ADD COLUMN x text REFERENCES tenants (id)',
    "ALTER TABLE tools ADD CONSTRAINT c CHECK (source <> 'DEFAULT')",
    'ALTER TABLE tools DISABLE ROW LEVEL SECURITY',
    'CREATE UNIQUE INDEX i ON tools (source)',
    'CREATE POLICY p ON tools AS RESTRICTIVE USING (false)',
    'DROP TABLE tools',
    'drop index tools_tenant_id_revision_idx',
    'REVOKE UPDATE ON tools FROM toolcrib_service',
    "UPDATE tools SET governance = '{}'",
    'DELETE FROM history',
    'TRUNCATE history',
    'CREATE TRIGGER t BEFORE INSERT ON tools EXECUTE FUNCTION f()',
    'DO $$ BEGIN DROP TABLE tools; END $$',
    'CREATE TABLE x (y text); /* ; */ DROP TABLE tools; -- CREATE TABLE tools (',
  ])('(refused) %s', (sql) => {
    expect(mayBeBesides(sql)).toHaveLength(1);
  });

  it.each([
    'CREATE TABLE x (y text); CREATE UNIQUE INDEX i ON x (y); ALTER TABLE x FORCE ROW LEVEL SECURITY',
    'ALTER TABLE tools ADD COLUMN x numeric(10, 2)',
    "ALTER TABLE tools ADD COLUMN x text NOT NULL DEFAULT 'a, b; DROP TABLE c'",
    'CREATE INDEX i ON tools (source)',
    'GRANT SELECT ON tools TO toolcrib_platform',
  ])('(allowed) %s', (sql) => {
    expect(mayBeBesides(sql)).toEqual([]);
  });
});
