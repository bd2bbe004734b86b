/** JSON as it arrives: names such as `__proto__` are ordinary members, so members are read through {@link own} alone. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** A map from tool names (which may be `constructor` or `__proto__`) to `T`, without a prototype. */
export type NameMap<T> = Record<string, T>;

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object's own member, never an inherited one; `undefined` where there is none. */
export function own<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

export const emptyNameMap = <T>(): NameMap<T> => Object.create(null) as NameMap<T>;

/** Whether two JSON values are the same value: the order of members has no meaning, that of items has. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]));
}

/** JSON merge patch (RFC 7396): `null` removes a member, an object is merged, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** The list without repeats; the first of each stays where it is. */
export const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];

/** By code point, as every list of names is ordered. Names are ASCII, so code units do. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
