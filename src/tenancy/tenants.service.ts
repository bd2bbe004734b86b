import { Injectable } from '@nestjs/common';
import { Announcer, announcementOf } from '../platform/announcement.js';
import { AppError } from '../platform/errors/app-error.js';
import type { TenantId } from '../platform/tenant-id.js';
import { tenantId } from '../platform/tenant-id.js';
import { PolicyViews } from '../policy/policy-views.js';
import { Authenticator } from './authenticator.js';
import type { TenantRecord } from './tenant.store.js';
import { TenantStore } from './tenant.store.js';

@Injectable()
export class TenantsService {
  constructor(
    private readonly tenants: TenantStore,
    private readonly authenticator: Authenticator,
    private readonly views: PolicyViews,
    private readonly announcer: Announcer,
  ) {}

  async create(id: string, name: string): Promise<TenantRecord> {
    const tenant = valid(id);
    const created = await this.tenants.create(tenant, name);
    if (created === null) throw new AppError('TENANT_EXISTS', `there is a tenant \`${id}\` already`);
    this.views.noteCommit(tenant);
    this.announcer.tell(announcementOf(tenant, 'tenant', null, []));
    return created;
  }

  list(after: string | null, limit: number): Promise<readonly TenantRecord[]> {
    return this.tenants.list(after, limit);
  }

  async delete(id: string): Promise<void> {
    const tenant = tenantId(id);
    if (tenant === null || !(await this.tenants.delete(tenant))) throw new AppError('TENANT_NOT_FOUND', `there is no tenant \`${id}\``);
    this.authenticator.forgetTenant(tenant);
    this.views.noteCommit(tenant);
    this.announcer.tell(announcementOf(tenant, 'tenant', null, []));
  }
}

function valid(id: string): TenantId {
  const tenant = tenantId(id);
  if (tenant === null) throw new AppError('INVALID_REQUEST', `\`${id}\` can not be the id of a tenant`);
  return tenant;
}
