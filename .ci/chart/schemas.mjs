// Whether a manifest is what the cluster takes.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv/dist/2020.js';

/** Whose models know the resources that are not Kubernetes' own. They find wrong types and what is missing, not what is too much. */
const MODELS = { 'monitoring.coreos.com': '@kubernetes-models/prometheus-operator', 'external-secrets.io': '@kubernetes-models/external-secrets' };

/** Kubernetes' own, strictly: a field that it does not know is a fault too. */
function kubernetesChecker(folder) {
  const read = (file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
  const ajv = new Ajv.default({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(read('_definitions.json'));
  const known = new Map();
  return ({ apiVersion, kind }) => {
    const [version, group] = apiVersion.split('/').reverse();
    const file = [kind.toLowerCase(), group?.split('.')[0], version].filter(Boolean).join('-');
    if (!known.has(file)) known.set(file, ajv.compile(read(`${file}.json`)));
    return known.get(file);
  };
}

/** A function that tells the faults of a manifest; an unknown kind is one. */
export function manifestChecker(folder) {
  const kubernetes = kubernetesChecker(folder);
  return async (manifest) => {
    const models = MODELS[manifest.apiVersion.split('/')[0]];
    if (models === undefined) {
      const check = kubernetes(manifest);
      return check(manifest) ? [] : check.errors.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
    }
    const { [manifest.kind]: Model } = await import(`${models}/${manifest.apiVersion}`);
    try {
      new Model(manifest).validate();
      return [];
    } catch (error) {
      return [error.message];
    }
  };
}
