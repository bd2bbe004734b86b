// Holds the chart: Helm takes each variant, Kubernetes would take what comes of it, and mistakes are refused with a word about them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { checkRelease } from './rules.mjs';
import { manifestChecker } from './schemas.mjs';
import { KUBERNETES, tools } from './tools.mjs';

const CHART = 'helm/toolcrib';
const ALWAYS = ['Deployment', 'Job', 'NetworkPolicy', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'ServiceAccount'];
const VARIANTS = {
  minimal: ALWAYS,
  production: [...ALWAYS, 'ConfigMap', 'HorizontalPodAutoscaler', 'Ingress', 'PrometheusRule', 'ServiceMonitor'],
  'external-secrets': [...ALWAYS, 'ExternalSecret', 'ExternalSecret'],
};

/** What is set beside the least that must be said, and a word of the refusal. */
const REFUSED = [
  ['secrets.existingSecret=', /secrets\.existingSecret is required: the name of a Secret with the keys DATABASE_URL \(PostgreSQL/u],
  ['replicas=3', /additional properties 'replicas' not allowed/u],
  ['networkPolicy.postgresql.prot=1', /additional properties 'prot' not allowed/u],
  ['replicaCount=many', /\/replicaCount': got string, want integer/u],
  ['containerPort=80', /\/containerPort': minimum/u],
  ['image.digest=latest', /\/image\/digest': .*does not match pattern/u],
  ['config.log_level=info', /log_level/u],
  ['config.LOG_LEVEL.level=info', /\/config\/LOG_LEVEL': got object/u],
  ['config.DATABASE_URL=postgresql://u:p@h/d', /config\.DATABASE_URL can not be set: it is a secret/u],
  ['config.TOOLCRIB_PLATFORM_KEY=x', /config\.TOOLCRIB_PLATFORM_KEY can not be set/u],
  ['config.TOOLCRIB_MIGRATE=on', /config\.TOOLCRIB_MIGRATE can not be set: it is always off/u],
  ['externalSecret.enabled=true', /externalSecret\.databaseUrl\.key is required/u],
  ['externalSecret.enabled=true,externalSecret.databaseUrl.key=a', /externalSecret\.store\.name is required/u],
  ['externalSecret.enabled=true,externalSecret.databaseUrl.key=a,externalSecret.store.name=vault', /externalSecret\.platformKey\.key is required/u],
  ['ingress.enabled=true', /ingress\.hosts is required/u],
];

/** What is off by itself, or may be switched off: the cluster takes that too. */
const OPTIONS = [
  'serviceAccount.create=false', 'serviceAccount.name=own', 'networkPolicy.enabled=false', 'migrations.enabled=false', 'podDisruptionBudget.enabled=false', 'podDisruptionBudget.maxUnavailable=25%',
  'preStopSeconds=0', 'fullnameOverride=policy', 'serviceMonitor.enabled=true', 'prometheusRule.enabled=true', 'dashboard.enabled=true', 'autoscaling.enabled=true', 'networkPolicy.https.enabled=true',
  'extraEnv[0].name=A,extraEnv[0].value=b', 'image.tag=1.2.3', 'podLabels.team=a', 'podAnnotations.a=b', 'config.TOOLCRIB_MAX_BODY_BYTES=1048576', 'migrations.existingSecret=owner',
];

const { helm, promtool, schemas } = tools();
const checkers = Object.fromEntries(KUBERNETES.map((version) => [version, manifestChecker(schemas(version))]));
const call = (program, args) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return { isOk: status === 0, stdout, said: `${stdout}${stderr}` };
};
const must = (program, ...args) => {
  const { isOk, stdout, said } = call(program, args);
  assert.ok(isOk, `${path.basename(program)} ${args.join(' ')}\n${said}`);
  return stdout;
};
const valuesOf = (variant) => ['-f', `${CHART}/ci/${variant}-values.yaml`];

/** What the chart makes, all of which a cluster of the version takes. */
async function manifestsOf(version, ...values) {
  const text = must(helm, 'template', 'crib', CHART, ...values, '--kube-version', version);
  const manifests = parseAllDocuments(text).map((document) => document.toJS()).filter((manifest) => manifest !== null);
  for (const manifest of manifests) assert.deepEqual(await checkers[version](manifest), [], `${values.join(' ')}: ${manifest.kind} ${manifest.metadata.name} in Kubernetes ${version}`);
  return manifests;
}

/** The checker finds what is wrong: else it would prove nothing. */
async function checkTheChecker(manifests) {
  const broken = (kind, breakIt) => {
    const manifest = structuredClone(manifests.find((one) => one.kind === kind));
    breakIt(manifest.spec);
    return checkers[KUBERNETES[0]](manifest);
  };
  const faults = await Promise.all([
    broken('Deployment', (spec) => (spec.template.spec.containers[0].prots = [])),
    broken('NetworkPolicy', (spec) => (spec.policyTypes = 'Egress')),
    broken('ServiceMonitor', (spec) => delete spec.selector),
    broken('PrometheusRule', (spec) => delete spec.groups[0].name),
  ]);
  for (const found of faults) assert.notDeepEqual(found, []);
}

/** The cluster gets the rules and the dashboard as they are tested, the runbook at an address of its own. */
function checkWatching(manifests) {
  const rules = readFileSync(`${CHART}/rules/toolcrib.rules.yaml`, 'utf8').replaceAll('runbook_url: ', 'runbook_url: https://git.example.com/platform/toolcrib/blob/main/');
  const { spec } = manifests.find(({ kind }) => kind === 'PrometheusRule');
  assert.deepEqual(spec, parse(rules));
  assert.deepEqual(JSON.parse(manifests.find(({ kind }) => kind === 'ConfigMap').data['toolcrib.json']), JSON.parse(readFileSync(`${CHART}/dashboards/toolcrib.json`, 'utf8')));
  const folder = mkdtempSync(path.join(tmpdir(), 'toolcrib-rules-'));
  writeFileSync(path.join(folder, 'rules.yaml'), stringify(spec));
  must(promtool, 'check', 'rules', path.join(folder, 'rules.yaml'));
  rmSync(folder, { recursive: true });
  must(promtool, 'test', 'rules', '.ci/chart/alerts.test.yaml');
}

for (const [setting, word] of REFUSED) {
  const { isOk, said } = call(helm, ['template', 'crib', CHART, ...valuesOf('minimal'), '--set', setting]);
  assert.ok(!isOk && word.test(said), `${setting} is not refused as it should be\n${said.slice(-2_000)}`);
}
for (const setting of OPTIONS) await manifestsOf(KUBERNETES[0], ...valuesOf('minimal'), '--set', setting);
for (const [variant, kinds] of Object.entries(VARIANTS)) {
  must(helm, 'lint', '--strict', CHART, ...valuesOf(variant));
  for (const version of KUBERNETES) {
    const manifests = await manifestsOf(version, ...valuesOf(variant));
    assert.deepEqual(manifests.map(({ kind }) => kind).sort(), [...kinds].sort(), variant);
    checkRelease(manifests);
    if (variant !== 'production') continue;
    await checkTheChecker(manifests);
    checkWatching(manifests);
  }
}
console.log(`chart: ${Object.keys(VARIANTS).length} variants and ${OPTIONS.length} options on Kubernetes ${KUBERNETES.join(' and ')}, ${REFUSED.length} refusals, the alerts`);
