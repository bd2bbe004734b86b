// Builds of earlier commits, for the tests that run them on today's schema.
import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** The first build that may run beside a newer one and after it: docs/upgrade.md. From then on every schema serves it. */
const SINCE = '586766ed5c5462ab8a5af6c4dfdc92ec9419f752';
const KEPT = path.resolve('node_modules/.cache/toolcrib-builds');

const run = promisify(execFile);
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

function commitOf(revision) {
  try {
    return git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`);
  } catch {
    return null;
  }
}

/**
 * The commits whose builds must run on today's schema, with what they are. Empty where the history is not all there: in a tree
 * without git, and in a shallow clone.
 */
export function oldCommits() {
  if (commitOf(SINCE) === null || commitOf('HEAD^1') === null) return [];
  const found = new Map();
  const wanted = [['the commit before this one', 'HEAD^1'], ['the oldest build that is promised to run', SINCE]];
  for (const [what, revision] of wanted) {
    const commit = commitOf(revision);
    if (commit !== null && !found.has(commit)) found.set(commit, { what, commit });
  }
  return [...found.values()];
}

const lockOf = async (folder) => JSON.parse(await readFile(path.join(folder, 'package-lock.json'), 'utf8')).packages;

/** What a build takes besides what runs. */
const BUILDS = /^node_modules\/(?:typescript|prisma|@types\/(?:node|pg))$/u;

/** Whether what the old build names itself, and what builds it, is installed here in the same version: then it runs on what is. */
async function isInstalled(folder) {
  const [old, present] = await Promise.all([lockOf(folder), lockOf('.')]);
  const named = Object.keys(old['']?.dependencies ?? {}).map((name) => `node_modules/${name}`);
  const built = Object.keys(old).filter((place) => BUILDS.test(place));
  return [...named, ...built].every((place) => present[place]?.version === old[place]?.version);
}

/** The folder of the commit's build, which is made once and kept until packages are installed anew. */
export async function builtAt(commit) {
  const kept = path.join(KEPT, commit);
  if (existsSync(kept)) return kept;
  const folder = await mkdtemp(path.join(tmpdir(), 'toolcrib-build-'));
  execFileSync('tar', ['-x', '-C', folder], { input: execFileSync('git', ['archive', commit], { maxBuffer: 2 ** 30 }) });
  const isOwn = !(await isInstalled(folder));
  if (isOwn) await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  else await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  // Its types were checked when it was committed; what is made of it is the same.
  await run('npm', ['run', 'build', '--', '--noCheck'], { cwd: folder });
  // Whole or not at all: another run may look for it meanwhile. Packages are found above, where it has none of its own.
  await mkdir(KEPT, { recursive: true });
  const partial = await mkdtemp(path.join(KEPT, 'partial-'));
  for (const part of ['package.json', 'dist', 'data', 'prisma', 'openapi', ...(isOwn ? ['node_modules'] : [])]) {
    await cp(path.join(folder, part), path.join(partial, part), { recursive: true, verbatimSymlinks: true });
  }
  await rename(partial, kept);
  await rm(folder, { recursive: true });
  return kept;
}
