import type { Author } from '../../src/platform/author.js';
import { author } from '../../src/platform/author.js';
import type { TenantId } from '../../src/platform/tenant-id.js';

/** Somebody who writes for a tenant where no request does. */
export const authorFor = (tenant: TenantId, requestId = 'request-1'): Author => author(tenant, { keyId: 'key-1', name: 'a key of the tests' }, requestId);
