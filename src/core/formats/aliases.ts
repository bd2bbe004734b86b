/** Names that providers refuse get aliases; every other name stays as it is. */
import { byText, emptyNameMap } from '../json.js';
import type { NameMap } from '../json.js';
import { PROVIDER_NAME } from './format.js';

export interface Aliases {
  /** The name itself where providers take it. */
  readonly aliasOf: (name: string) => string;
  /** The tool behind an alias; undefined for everything that is none, a real name too. */
  readonly nameOf: (alias: string) => string | undefined;
}

const RESERVED = ['load_tools', 'tool_search', 'tool_request'];
const LONGEST = 64;

/**
 * INVARIANT (aliases): over all names of a catalog, whatever their order: distinct, valid for every provider, and never a real
 * name. An alias comes from its name alone, so newcomers leave it as it is, unless one of them takes that very name.
 */
export function aliasesOf(names: Iterable<string>): Aliases {
  const all = [...new Set(names)];
  const taken = new Set([...RESERVED, ...all]);
  const aliases = new Map<string, string>();
  for (const name of all.filter((one) => !PROVIDER_NAME.test(one)).sort(byText)) {
    let alias = candidate(name, 0);
    for (let attempt = 1; taken.has(alias); attempt += 1) alias = candidate(name, attempt);
    taken.add(alias);
    aliases.set(name, alias);
  }
  const back = new Map([...aliases].map(([name, alias]) => [alias, name]));
  return { aliasOf: (name) => aliases.get(name) ?? name, nameOf: (alias) => back.get(alias) };
}

/** Which of the names are told otherwise: alias to name. */
export function nameMap({ aliasOf }: Aliases, names: Iterable<string>): NameMap<string> {
  const map = emptyNameMap<string>();
  for (const name of names) {
    const alias = aliasOf(name);
    if (alias !== name) map[alias] = name;
  }
  return map;
}

/** As much of the name as can be read, and a digest of the whole. */
function candidate(name: string, attempt: number): string {
  const digest = digestOf(name, attempt);
  const readable = name.replace(/[^A-Za-z0-9_-]/gu, '_').replace(/^(?![A-Za-z_])/u, '_');
  return `${readable.slice(0, LONGEST - digest.length - 1)}_${digest}`;
}

/** 64 bits from two multiplicative hashes of the code units, in base 36. Distinctness does not rest on it, stability does. */
function digestOf(text: string, seed: number): string {
  let high = 0x811c9dc5 ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5f356495);
    low ^= low >>> 15;
  }
  return [high, low].map((half) => (half >>> 0).toString(36).padStart(7, '0')).join('');
}
