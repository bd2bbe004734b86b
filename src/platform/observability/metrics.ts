import { totalmem } from 'node:os';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { Durations, Tallies } from './tallies.js';

const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5];

/** What `/metrics` shows. One object for each application, so that two in one process do not share counts. */
export class Metrics {
  readonly registry = new Registry();

  readonly decideSeconds = new Durations({
    name: 'toolcrib_decide_duration_seconds',
    help: 'time to answer one decide request, by tenant and outcome (ok, empty, not_modified, or the error code)',
    labelNames: ['tenant', 'outcome'],
    registers: [this.registry],
  }, SECONDS);

  readonly checkSeconds = new Durations({
    name: 'toolcrib_check_duration_seconds',
    help: 'time to answer one check request, by tenant and outcome (allowed, refused, or the error code)',
    labelNames: ['tenant', 'outcome'],
    registers: [this.registry],
  }, SECONDS);

  readonly httpRequests = new Tallies({
    name: 'toolcrib_http_requests_total',
    help: 'HTTP requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [this.registry],
  });

  readonly shedRequests = new Tallies({
    name: 'toolcrib_shed_requests_total',
    help: 'requests refused because there was too much to do, by what there was too much of (concurrency, lateness)',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly limitedRequests = new Tallies({
    name: 'toolcrib_limited_requests_total',
    help: 'requests refused because a key or its tenant had asked too often, by tenant and by whose limit it was (key, tenant)',
    labelNames: ['tenant', 'of'],
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

  readonly invalidations = new Counter({
    name: 'toolcrib_invalidations_total',
    help: 'news of what another replica committed, by the road that brought it first (redis, postgres, check)',
    labelNames: ['road'],
    registers: [this.registry],
  });

  readonly invalidationLag = new Histogram({
    name: 'toolcrib_invalidation_lag_seconds',
    help: 'from a commit on another replica until this one knew of it, by road',
    labelNames: ['road'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [this.registry],
  });

  readonly cacheRequests = new Tallies({
    name: 'toolcrib_cache_requests_total',
    help: 'look-ups by level (answer, view, shared) and outcome (hit, miss, error)',
    labelNames: ['level', 'outcome'],
    registers: [this.registry],
  });

  readonly cacheFillSeconds = new Histogram({
    name: 'toolcrib_cache_fill_seconds',
    help: 'time to fill a level: view = reading and compiling a tenant or what changed of it, shared = storing an answer in Redis',
    labelNames: ['level'],
    buckets: SECONDS,
    registers: [this.registry],
  });

  readonly viewRevision = new Gauge({
    name: 'toolcrib_view_revision',
    help: 'the revision that this replica decides from, by tenant',
    labelNames: ['tenant'],
    registers: [this.registry],
  });

  readonly breakerState = new Gauge({
    name: 'toolcrib_breaker_state',
    help: '1 for the state that the circuit breaker of a dependency is in (closed, half-open, open)',
    labelNames: ['dependency', 'state'],
    registers: [this.registry],
  });

  readonly changeStreams = new Gauge({ name: 'toolcrib_change_streams', help: 'open streams of changes', registers: [this.registry] });

  readonly changeEvents = new Counter({ name: 'toolcrib_change_events_total', help: 'revisions told on streams of changes', registers: [this.registry] });

  readonly changeResyncs = new Counter({ name: 'toolcrib_change_resyncs_total', help: 'resyncs told on streams of changes, in the place of revisions that could not be', registers: [this.registry] });

  readonly changeStreamsEnded = new Counter({
    name: 'toolcrib_change_streams_ended_total',
    help: 'streams of changes that ended, by reason (client: it left; slow: cut off; key: no longer in force; tenant: deleted; stale, failed: the database; shutdown)',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly tokenVerifications = new Counter({
    name: 'toolcrib_token_verifications_total',
    help: 'tokens of people that were verified (what is known already is not), by outcome: accepted, or why not (expired, audience, unknown_key and so on)',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly issuerLooks = new Counter({
    name: 'toolcrib_issuer_looks_total',
    help: 'readings of the keys of the issuer of tokens, by outcome (ok, failed)',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly decisionLogDropped = new Counter({ name: 'toolcrib_decision_log_dropped_total', help: 'decisions that were to be logged and could not be in time', registers: [this.registry] });

  readonly databaseUp = new Gauge({ name: 'toolcrib_database_up', help: '1 when the last look at the database succeeded', registers: [this.registry] });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    new Gauge({ name: 'toolcrib_memory_limit_bytes', help: 'what the process may take at the most: the limit of its container, else the memory of the machine', registers: [this.registry] }).set(memoryLimit());
  }
}

/** Without a limit Node tells 0, or a number beyond any machine. */
function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
