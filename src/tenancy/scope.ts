/** What a key may do. */
export const SCOPES = ['decide', 'sync', 'governance:read', 'governance:write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** `governance:write` implies reading; `admin` implies all. */
export function impliedScopes(scopes: readonly Scope[]): ReadonlySet<Scope> {
  if (scopes.includes('admin')) return new Set(SCOPES);
  return new Set(scopes.includes('governance:write') ? [...scopes, 'governance:read'] : scopes);
}
