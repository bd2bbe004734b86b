// What no schema says and must hold of every rendering.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parseConfig } from '../../dist/platform/config/config.js';

/** What the referenced secrets might hold. */
const SECRETS = { DATABASE_URL: 'postgresql://u:p@db/toolcrib', REDIS_URL: 'rediss://redis:6380', TOOLCRIB_PLATFORM_KEY: 'k'.repeat(32) };

const environmentOf = ({ env }) => Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? (valueFrom.secretKeyRef && SECRETS[name])]));

function checkPod(name, { spec }, purpose) {
  const [container] = spec.containers;
  // The service ends with 78 on a name TOOLCRIB_* that it does not know, and service links are such.
  assert.equal(spec.enableServiceLinks, false, `${name}: service links`);
  assert.equal(spec.automountServiceAccountToken, false, `${name}: token`);
  assert.ok(spec.securityContext.runAsNonRoot && spec.securityContext.runAsUser > 0 && spec.securityContext.seccompProfile.type === 'RuntimeDefault', `${name}: user`);
  assert.deepEqual(container.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }, `${name}: container`);
  assert.ok(container.volumeMounts.some(({ mountPath }) => mountPath === '/tmp'), `${name}: /tmp`);
  assert.equal(new Set(container.env.map(({ name: variable }) => variable)).size, container.env.length, `${name}: a variable twice`);
  for (const { name: variable, value } of container.env) assert.ok(!(variable in SECRETS) || value === undefined, `${name}: ${variable} is not by reference`);
  const config = parseConfig(environmentOf(container), purpose);
  assert.notEqual(config.databaseUrl, null, `${name}: no database`);
  return config;
}

const matches = (selector, { metadata }) => Object.entries(selector).every(([label, value]) => metadata.labels[label] === value);

/** Hooks come before everything else: what they need must be a hook too, and earlier. */
function checkHooks(manifests) {
  const isHook = ({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'pre-install,pre-upgrade';
  const weight = ({ metadata }) => Number(metadata.annotations['helm.sh/hook-weight']);
  const hooks = manifests.filter(isHook);
  const [job] = hooks.filter(({ kind }) => kind === 'Job');
  assert.ok(hooks.every((hook) => hook === job || weight(hook) < weight(job)), 'what the Job needs comes first');
  const { spec } = job.spec.template;
  const laterNames = manifests.filter((manifest) => !isHook(manifest)).map(({ metadata }) => metadata.name);
  assert.ok(!laterNames.includes(spec.serviceAccountName), 'the account of the Job is there only later');
  const secret = spec.containers[0].env.find(({ name }) => name === 'DATABASE_URL').valueFrom.secretKeyRef.name;
  assert.ok(!manifests.some((manifest) => manifest.kind === 'ExternalSecret' && !isHook(manifest) && manifest.spec.target.name === secret), 'the Secret of the Job is there only later');
  const policy = hooks.find(({ kind }) => kind === 'NetworkPolicy');
  assert.ok(policy === undefined || matches(policy.spec.podSelector.matchLabels, job.spec.template), 'the policy of the Job is not for its pods');
}

export function checkRelease(manifests) {
  const the = (kind) => manifests.find((manifest) => manifest.kind === kind && !manifest.metadata.annotations?.['helm.sh/hook']);
  const deployment = the('Deployment');
  const job = manifests.find(({ kind }) => kind === 'Job');
  assert.equal(checkPod('the service', deployment.spec.template, 'serve').migrate, false);
  checkPod('the migrations', job.spec.template, 'migrate');
  assert.ok(!('TOOLCRIB_PLATFORM_KEY' in environmentOf(job.spec.template.spec.containers[0])), 'the migrations are given the platform key');
  checkHooks(manifests);
  for (const selector of [the('Service').spec.selector, deployment.spec.selector.matchLabels, the('PodDisruptionBudget').spec.selector.matchLabels, the('NetworkPolicy').spec.podSelector.matchLabels]) {
    assert.ok(matches(selector, deployment.spec.template) && !matches(selector, job.spec.template), 'the pods that serve, and no others');
  }
  const { paths } = JSON.parse(readFileSync('openapi/openapi.json', 'utf8'));
  const [{ startupProbe, livenessProbe, readinessProbe }] = deployment.spec.template.spec.containers;
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) assert.ok(httpGet.path in paths, `no operation ${httpGet.path}`);
  assert.equal(deployment.spec.strategy.rollingUpdate.maxUnavailable, 0);
  assert.equal('replicas' in deployment.spec, the('HorizontalPodAutoscaler') === undefined, 'replicas and an autoscaler contradict each other');
}
