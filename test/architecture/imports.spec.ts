import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const FEATURES = ['tenancy', 'registry', 'agents', 'conversations', 'decision', 'history', 'changes'];
const SHARED_PORTS = ['governance', 'invalidation', 'policy', 'engines', 'search'];

/** Who may import whom, as data. The first rule whose `from` fits a file is the file's; paths are below `src`. */
const RULES: readonly { readonly from: RegExp; readonly may: readonly RegExp[]; readonly packages: readonly RegExp[] }[] = [
  { from: /^core\//u, may: [/^core\//u], packages: [] },
  // Composition: these alone name adapters.
  { from: /^(?:main|commands|service|create-app|openapi|write-openapi|app\.module|invalidation\/invalidation\.module)\.ts$/u, may: [/./u], packages: [/^@nestjs\//u, /^node:/u, /^fastify$/u] },
  // Adapters.
  { from: /\/redis-[\w-]+(?:\.store)?\.ts$/u, may: [/^core\//u, /^platform\//u, /^invalidation\/announcements/u, /\.store\.ts$/u], packages: [/^ioredis$/u, /^rate-limiter-flexible$/u, /^node:/u] },
  { from: /^invalidation\/postgres-/u, may: [/^platform\//u, /^invalidation\/announcements/u], packages: [] },
  { from: /\/prisma-[\w-]+\.(?:store|loader)\.ts$/u, may: [/^core\//u, /^platform\//u, /^tenancy\/scope/u, /^governance\/record-mapper/u, /\.(?:store|loader)\.ts$/u], packages: [] },
  // Ports. The one of governance notes every write by itself, so that no adapter can leave it out.
  { from: /\.(?:store|loader)\.ts$/u, may: [/^core\//u, /^platform\/(?:author|tenant-id)/u, /^tenancy\/scope/u, /^governance\/recording-unit/u], packages: [] },
  { from: /^platform\/redis\//u, may: [/^platform\//u], packages: [/^ioredis$/u, /^cockatiel$/u] },
  { from: /^platform\/observability\/otlp-tracing\.ts$/u, may: [/^platform\/(?:errors|observability)/u], packages: [/^@opentelemetry\//u, /^node:/u] },
  { from: /^platform\/database\//u, may: [/^platform\//u], packages: [/^@prisma\//u, /^pg$/u, /^@electric-sql\/pglite$/u, /^node:/u] },
  // The names of scopes, so that a mistake in their map is told at start.
  { from: /^platform\/config\/oidc/u, may: [/^tenancy\/scope/u], packages: [] },
  // Words and shapes of the core that the edge speaks in; no decision.
  { from: /^platform\//u, may: [/^platform\//u, /^core\/(?:json|text|reason|catalog|route|agent-document|history)/u], packages: [/^@nestjs\/(?:common|core|swagger|platform-fastify)$/u, /^class-validator$/u, /^fastify$/u, /^lru-cache$/u, /^pino$/u, /^prom-client$/u, /^rxjs$/u, /^node:/u] },
  { from: /^engines\//u, may: [/^core\//u, /^engines\//u], packages: [/^ajv/u, /^@bufbuild\/cel$/u, /^lru-cache$/u, /^node:(?:vm|v8)$/u] },
  // Ranking: its port is `tool-ranker`, its libraries stay inside.
  { from: /^search\//u, may: [/^core\/search\.ts$/u, /^search\//u, /^platform\/errors/u], packages: [/^minisearch\/SearchableMap$/u, /^stemmer$/u, /^node:(?:fs|timers)\/promises$/u] },
  // What replicas tell one another; what they keep is handed to it.
  { from: /^invalidation\//u, may: [/^core\/policy-view/u, /^invalidation\//u, /^platform\/(?:announcement|errors|observability|readings|tenant-id)/u], packages: [/^node:timers/u] },
  { from: /^governance\//u, may: [/^core\//u, /^governance\//u, /^platform\/author/u], packages: [] },
  { from: /^policy\//u, may: [/^core\//u, /^policy\//u, /^engines\/engines\.ts$/u, /^platform\/(?:errors|observability|config|readings|tenant-id)/u], packages: [/^@nestjs\/common$/u, /^ajv/u, /^lru-cache$/u, /^node:timers/u] },
  { from: /\.(?:controller|dto)\.ts$/u, may: [/^core\//u, /^platform\//u, /^tenancy\/access/u, /^policy\/request\.schema/u], packages: [/^@nestjs\//u, /^class-validator$/u, /^fastify$/u] },
  // The edge of two features: what stands before the framework's own layers.
  { from: /^(?:tenancy\/(?:access|large-bodies)|decision\/(?:fast-road|shared-answering))/u, may: [/^platform\//u, /^policy\/policy-views/u, /^conversations\/conversation-states/u, /^tenancy\/access/u], packages: [/^@nestjs\/(?:common|core)$/u, /^fastify$/u] },
  // Tokens: the library stays with those who verify them.
  { from: /^tenancy\/(?:issuer|signing-keys|people)\.ts$/u, may: [/^core\//u, /^platform\/(?:errors|observability|config|readings|tenant-id)/u], packages: [/^@nestjs\/common$/u, /^jose$/u, /^lru-cache$/u] },
  // Services.
  { from: /./u, may: [/^core\//u, /^platform\/(?:announcement|author|errors|observability|config|readings|tenant-id)/u, /^(?:governance\/governance\.store|policy\/(?:policy-views|subjects|impacts|body-reader|request\.schema)|engines\/engines|search\/tool-ranker|invalidation\/revision\.loader|conversations\/conversation-states)\.ts$/u, /^tenancy\/access/u], packages: [/^@nestjs\/common$/u, /^ajv/u, /^lru-cache$/u, /^node:/u] },
];

const OWN_DRIVER: readonly (readonly [packageName: RegExp, where: RegExp])[] = [
  [/generated\/client/u, /^(?:platform\/database\/|.*\/prisma-)/u],
  [/^@nestjs\/swagger$/u, /(?:\.controller|\.dto|^openapi|^platform\/http\/field-rules)\.ts$/u],
  [/^jose$/u, /^tenancy\/(?:issuer|people)/u],
  [/^pg$/u, /^platform\/database\//u],
  [/^ioredis$/u, /^(?:platform\/redis\/|.*\/redis-)/u],
  // Loaded only where traces are on.
  [/^@opentelemetry\//u, /^platform\/observability\/otlp-tracing\.ts$/u],
  [/otlp-tracing/u, /^platform\/observability\/open-tracing\.ts$/u],
];

const ROOT = 'src';
const files = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.includes('generated'));

interface Import {
  readonly file: string;
  /** A file below `src`, or a package. */
  readonly target: string;
  readonly isPackage: boolean;
}

const imports: Import[] = files.flatMap((file) =>
  ts.preProcessFile(readFileSync(path.join(ROOT, file), 'utf8')).importedFiles.map(({ fileName }) => {
    const isPackage = !fileName.startsWith('.');
    return { file, isPackage, target: isPackage ? fileName : path.join(path.dirname(file), fileName).replace(/\.js$/u, '.ts') };
  }));

const featureOf = (file: string): string | undefined => FEATURES.find((feature) => file.startsWith(`${feature}/`));

describe('who imports whom', () => {
  it('follows the table', () => {
    const strays = imports.filter(({ file, target, isPackage }) => {
      const rule = RULES.find(({ from }) => from.test(file));
      if (rule === undefined) return true;
      if (isPackage) return !rule.packages.some((allowed) => allowed.test(target));
      const isOwn = featureOf(file) !== undefined && featureOf(file) === featureOf(target);
      return !isOwn && !rule.may.some((allowed) => allowed.test(target));
    });
    expect(strays).toEqual([]);
  });

  it('lets a feature see another one’s ports alone, and nobody sees decision', () => {
    const across = imports.filter(({ file, target }) => featureOf(file) !== undefined && featureOf(target) !== undefined && featureOf(file) !== featureOf(target));
    expect(across.filter(({ target }) => target.startsWith('decision/') || !/^(?:tenancy\/(?:access|scope)|conversations\/conversation-states)/u.test(target))).toEqual([]);
  });

  it('leaves each driver to its adapters', () => {
    const strays = imports.filter(({ file, target }) => OWN_DRIVER.some(([driver, where]) => driver.test(target) && !where.test(file)));
    expect(strays).toEqual([]);
  });

  it('has no folder deeper than two levels, no barrel and no catch-all', () => {
    expect(files.filter((file) => file.split(path.sep).length > 3)).toEqual([]);
    expect(files.filter((file) => /(?:^|\/)index\.ts$|(?:^|\/)(?:utils?|common|helpers?|shared)(?:\/|\.)/u.test(file))).toEqual([]);
    const folders = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]));
    expect([...folders].sort()).toEqual([...FEATURES, ...SHARED_PORTS, 'core', 'platform'].sort());
  });
});
