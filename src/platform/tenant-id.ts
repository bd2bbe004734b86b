declare const tenantBrand: unique symbol;

/** The id of a tenant that a key or the platform vouches for. Every port takes one, so a query without a tenant does not compile. */
export type TenantId = string & { readonly [tenantBrand]: true };

const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/u;

/** Null for what can not be a tenant's id. */
export const tenantId = (text: string): TenantId | null => (TENANT_ID.test(text) ? (text as TenantId) : null);

/** The rule in words, for documents and messages. */
export const TENANT_ID_PATTERN = TENANT_ID.source;
