import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5];

/** What `/metrics` shows. One object for each application, so that two in one process do not share counts. */
export class Metrics {
  readonly registry = new Registry();

  readonly decideSeconds = new Histogram({
    name: 'toolcrib_decide_duration_seconds',
    help: 'time to answer one decide request, by tenant and outcome (ok, empty, not_modified, or the error code)',
    labelNames: ['tenant', 'outcome'],
    buckets: SECONDS,
    registers: [this.registry],
  });

  readonly checkSeconds = new Histogram({
    name: 'toolcrib_check_duration_seconds',
    help: 'time to answer one check request, by tenant and outcome (allowed, refused, or the error code)',
    labelNames: ['tenant', 'outcome'],
    buckets: SECONDS,
    registers: [this.registry],
  });

  readonly httpRequests = new Counter({
    name: 'toolcrib_http_requests_total',
    help: 'HTTP requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [this.registry],
  });

  readonly policyLoads = new Counter({
    name: 'toolcrib_policy_loads_total',
    help: 'readings of a tenant from the database, by outcome (unchanged, delta, complete, missing, failed)',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly staleAnswers = new Counter({
    name: 'toolcrib_stale_answers_total',
    help: 'answers given from an older view while the database could not be reached',
    labelNames: ['tenant'],
    registers: [this.registry],
  });

  readonly databaseUp = new Gauge({ name: 'toolcrib_database_up', help: '1 when the last look at the database succeeded', registers: [this.registry] });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }
}
