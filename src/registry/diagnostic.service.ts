import { Inject, Injectable } from '@nestjs/common';
import type { DiagnosticAnswer, DiagnosticInput } from '../core/diagnostic.js';
import { diagnoseTools } from '../core/diagnostic.js';
import type { Limits } from '../platform/config/config.js';
import { LIMITS } from '../platform/config/limits.token.js';
import type { TenantId } from '../platform/tenant-id.js';
import type { ReadBody } from '../policy/body-reader.js';
import { bodyReader } from '../policy/body-reader.js';
import { PolicyViews } from '../policy/policy-views.js';
import { diagnosticSchema } from './diagnostic.schema.js';

/** What a session would allow, asked without an agent. */
@Injectable()
export class DiagnosticService {
  private readonly read: ReadBody<DiagnosticInput>;

  constructor(
    private readonly views: PolicyViews,
    @Inject(LIMITS) limits: Limits,
  ) {
    this.read = bodyReader(diagnosticSchema(limits));
  }

  async diagnose(tenant: TenantId, body: unknown): Promise<DiagnosticAnswer> {
    const input = this.read(body);
    return diagnoseTools(await this.views.fresh(tenant), input);
  }
}
