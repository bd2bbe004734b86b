/** What the model of a turn is given: definitions in the format of its provider, and what that format says otherwise. */
import type { Warning } from './agent-document.js';
import type { CatalogTool } from './catalog.js';
import { definitionOf, fullDefinitionOf, loaderDefinition } from './definition.js';
import type { Exposed } from './expose.js';
import type { Aliases } from './formats/aliases.js';
import { aliasesOf, nameMap } from './formats/aliases.js';
import type { Format } from './formats/format.js';
import { definitionIn, provide } from './formats/provide.js';
import { emptyNameMap } from './json.js';
import type { NameMap } from './json.js';
import type { ToldSubject } from './pipeline.js';
import type { PolicyView } from './policy-view.js';

/** How definitions are asked for. Without a format they are plain. */
export interface Presentation {
  readonly format: Format | null;
  /** Whether the provider may search among what is not initial by itself. */
  readonly nativeDeferral: boolean;
}

export interface Presented {
  readonly definitions: readonly object[];
  /** From aliases to names; changed ones only. */
  readonly nameMap: NameMap<string>;
  readonly warnings: readonly Warning[];
}

const known = new WeakMap<readonly CatalogTool[], Aliases>();

/** Of every registered name, so that no agent's tools move another's aliases. */
export function aliasesIn({ tools }: Pick<PolicyView, 'tools'>): Aliases {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const aliases = aliasesOf(tools.map(({ name }) => name));
  known.set(tools, aliases);
  return aliases;
}

/** The tool that a name means: the exact one, or where a format is named, the one behind an alias. */
export function nameMeant(given: string, { tools, byName }: PolicyView, format: Format | null): string {
  return format === null || byName.has(given) ? given : (aliasesIn({ tools }).nameOf(given) ?? given);
}

/** Loaders, then what is initial. `wanted` says whether definitions are asked for at all: the rest is told in any case. */
export function present(exposed: Exposed, subject: ToldSubject, { format, nativeDeferral }: Presentation, wanted: boolean): Presented {
  const { initialTools, searchableTools, loaderTools } = exposed;
  if (format === null) {
    const definitions = wanted ? [...loaderTools.map(loaderDefinition), ...initialTools.map((tool) => definitionOf(tool, subject))] : [];
    return { definitions, nameMap: emptyNameMap(), warnings: [] };
  }
  const aliases = aliasesIn(subject.view);
  const full = (tools: readonly CatalogTool[]) => tools.map((tool) => fullDefinitionOf(tool, subject));
  const provided = wanted
    ? provide({ format, nativeDeferral, loaders: loaderTools, initial: full(initialTools), searchable: nativeDeferral ? full(searchableTools) : [], aliases })
    : { definitions: [], warnings: [] };
  const names = [...initialTools, ...searchableTools].map(({ name }) => name);
  return { definitions: provided.definitions, nameMap: nameMap(aliases, names), warnings: [...overflowWarnings(exposed, format), ...provided.warnings] };
}

function overflowWarnings({ overflow, loaderTools }: Exposed, format: Format): Warning[] {
  if (overflow === 0) return [];
  const loader = loaderTools.map((name) => `\`${name}\``).join(' or ');
  return [{ code: 'DEFINITION_LIMIT', message: `\`${format}\` takes no more definitions: ${overflow} more tools wait behind ${loader}` }];
}

/** One tool's definition as it is answered alone; null where the format can not tell it. */
export const presentOne = (tool: CatalogTool, subject: ToldSubject, format: Format | null): object | null =>
  format === null ? definitionOf(tool, subject) : definitionIn(format, fullDefinitionOf(tool, subject), aliasesIn(subject.view));
