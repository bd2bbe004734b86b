import { cpSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import ignore from '@balena/dockerignore';
import { DockerfileParser } from 'dockerfile-ast';
import type { Copy, From, Healthcheck, Instruction, JSONInstruction, ModifiableInstruction, PropertyInstruction, Workdir } from 'dockerfile-ast';
import { spawnProcess } from './process.js';

/** What the steps of a Dockerfile make, without Docker: a folder that stands for `/`, and what is said of running it. */
export interface Image {
  /** What the first stage is made from. */
  readonly base: string;
  readonly root: string;
  readonly workdir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly healthcheck: readonly string[];
  readonly command: readonly string[];
  readonly stopSignal: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

interface Build {
  /** What is built from: the folder of the Dockerfile. */
  readonly context: string;
  /** Holds a folder for each stage. */
  readonly folder: string;
  readonly stages: Map<string, Image>;
  readonly args: Record<string, string>;
}

type Step<I extends Instruction> = (instruction: I, stage: Image, build: Build) => Partial<Image> | Promise<Partial<Image>>;

const isRoot = process.getuid?.() === 0;
const wordsOf = (instruction: Instruction): string[] => instruction.getArguments().map((argument) => argument.getValue());
const only = (words: readonly string[], form: RegExp): string => {
  const [word = '', ...more] = words;
  if (more.length > 0 || !form.test(word)) throw new Error(`\`${words.join(' ')}\` is not of the form ${form.source}`);
  return word;
};

/** Does the Dockerfile's own steps, the stages below `folder`. A step, a flag or a form that it does not know is an error, never passed over. */
export async function buildImage(context: string, folder: string): Promise<Image> {
  const build: Build = { context, folder, stages: new Map(), args: {} };
  let stage: Image | undefined;
  for (const instruction of DockerfileParser.parse(await readFile(path.join(context, 'Dockerfile'), 'utf8')).getInstructions()) {
    const keyword = instruction.getKeyword();
    try {
      if (keyword === 'FROM') stage = await from(instruction as From, build);
      else if (stage === undefined) throw new Error('a Dockerfile begins with FROM');
      else stage = { ...stage, ...(await stepOf(keyword)(instruction, stage, build)) };
    } catch (error) {
      throw new Error(`Dockerfile, line ${instruction.getRange().start.line + 1}, ${keyword}: ${String(error)}`, { cause: error });
    }
    // The stage as it is by now is what a later one is made from or copies from.
    for (const [name, { root }] of build.stages) if (root === stage.root) build.stages.set(name, stage);
  }
  if (stage === undefined) throw new Error('an empty Dockerfile');
  return stage;
}

const EMPTY = { workdir: '/', environment: {}, volumes: [], user: undefined, healthcheck: [], command: [], stopSignal: undefined, labels: {} };

/** Not the asynchronous one, which takes five times as long for ten thousand small files. */
const copyAll = (from: string, to: string): void => cpSync(from, to, { recursive: true, verbatimSymlinks: true });

/** An image from elsewhere is an empty folder: of it, the steps may use what this machine has as well, Node and a shell. */
async function from(instruction: From, { folder, stages }: Build): Promise<Image> {
  const image = instruction.getImage() ?? '';
  flagsOf(instruction, []);
  const root = path.join(folder, String(stages.size));
  const before = stages.get(image);
  await mkdir(root);
  if (before !== undefined) copyAll(before.root, root);
  const stage = before === undefined ? { ...EMPTY, base: image, root } : { ...before, root };
  stages.set(instruction.getBuildStage() ?? `the stage ${stages.size}`, stage);
  return stage;
}

function flagsOf(instruction: ModifiableInstruction, known: readonly string[]): Record<string, string> {
  const flags = instruction.getFlags().map((flag) => [flag.getName(), flag.getValue() ?? ''] as const);
  for (const [name] of flags) if (!known.includes(name)) throw new Error(`\`--${name}\` is a flag that this reader does not know`);
  return Object.fromEntries(flags);
}

/** A step that runs in the build: the shell of this machine, the folder of the stage. */
async function run(instruction: JSONInstruction, stage: Image): Promise<Partial<Image>> {
  flagsOf(instruction, []);
  const text = instruction.getRawArgumentsContent() ?? '';
  // What would leave the folder, or be read otherwise by Docker than by a shell.
  if (/(?:^|\s)[/[]|<<|\.\./u.test(text)) throw new Error('no absolute path, list, here-document or way up is known here');
  const { NODE_ENV: _, ...environment } = process.env;
  const options = { cwd: path.join(stage.root, stage.workdir), env: { ...environment, npm_config_prefer_offline: 'true', ...stage.environment } };
  const { ended, output } = spawnProcess(['sh', '-c', `umask 022; ${text}`], options);
  if ((await ended) !== 0) throw new Error(output().slice(-2_000));
  return {};
}

async function copy(instruction: Copy, stage: Image, build: Build): Promise<Partial<Image>> {
  const flags = flagsOf(instruction, ['from', 'chown']);
  const words = wordsOf(instruction);
  const destination = words.pop() ?? '';
  if (words.length === 0 || /[*?[\]{}$]|\.\./u.test(words.join(' '))) throw new Error('plain paths are known here, neither patterns nor variables');
  const target = path.join(stage.root, path.resolve(stage.workdir, destination));
  const source = flags['from'] === undefined ? undefined : build.stages.get(flags['from']);
  if (flags['from'] !== undefined && source === undefined) throw new Error(`there is no stage \`${flags['from']}\``);
  for (const word of words) {
    const isFolder = (await stat(path.join(source?.root ?? build.context, word))).isDirectory();
    if (!isFolder && !destination.endsWith('/')) throw new Error('a file is copied into a folder, whose name ends with a slash');
    const into = isFolder ? target : path.join(target, path.basename(word));
    if (source === undefined) await copyFromContext(build.context, word, into);
    else copyAll(path.join(source.root, word), into);
  }
  if (flags['chown'] !== undefined && isRoot) await own(target, idsOf(flags['chown']));
  return {};
}

/** What `.dockerignore` leaves of it. */
async function copyFromContext(context: string, word: string, into: string): Promise<void> {
  const kept = ignore.default().add((await readFile(path.join(context, '.dockerignore'), 'utf8')).split('\n')).createFilter();
  const isFolder = (await stat(path.join(context, word))).isDirectory();
  const files = isFolder ? (await readdir(path.join(context, word), { recursive: true, withFileTypes: true })).filter((file) => file.isFile()).map((file) => path.relative(context, path.join(file.parentPath, file.name))) : [word];
  const copied = files.filter(kept);
  if (copied.length === 0) throw new Error(`.dockerignore leaves nothing of \`${word}\``);
  for (const file of copied) await cp(path.join(context, file), isFolder ? path.join(into, path.relative(word, file)) : into);
}

async function own(place: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  for (const name of await readdir(place, { recursive: true })) await chown(path.join(place, name), uid, gid);
  await chown(place, uid, gid);
}

const idsOf = (text: string): { uid: number; gid: number } => {
  const [, uid, gid] = /^(\d+):(\d+)$/u.exec(text) ?? [];
  if (uid === undefined || gid === undefined || uid === '0') throw new Error(`\`${text}\` is not a user and a group by number, or is root`);
  return { uid: Number(uid), gid: Number(gid) };
};

const propertiesOf = (instruction: PropertyInstruction, args: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(instruction.getProperties().map((property) => [property.getName(), (property.getValue() ?? '').replace(/\$\{(\w+)\}/gu, (_, name: string) => {
    const value = args[name];
    if (value === undefined) throw new Error(`there is no argument \`${name}\``);
    return value;
  })]));

/** A list of words, which is started without a shell in between, that signals would end at. */
function listOf(instruction: Instruction, text: string | null = instruction.getArgumentsContent()): string[] {
  const list: unknown = JSON.parse(text ?? '');
  if (!Array.isArray(list) || !list.every((word) => typeof word === 'string')) throw new Error('only a list of words is known here');
  return list;
}

function healthcheck(instruction: Healthcheck): Partial<Image> {
  flagsOf(instruction, ['interval', 'timeout', 'start-period', 'retries']);
  const [, list] = /(?:^|\s)CMD\s+(\[.*\])\s*$/su.exec(instruction.getArgumentsContent() ?? '') ?? [];
  return { healthcheck: listOf(instruction, list ?? null) };
}

async function workdir(instruction: Workdir, stage: Image): Promise<Partial<Image>> {
  const place = only(wordsOf(instruction), /^\/[\w/]+$/u);
  await mkdir(path.join(stage.root, place), { recursive: true });
  await chmod(path.join(stage.root, place), 0o755);
  return { workdir: place };
}

const STEPS = {
  RUN: run,
  COPY: copy,
  WORKDIR: workdir,
  HEALTHCHECK: healthcheck,
  ENV: (instruction: PropertyInstruction, { environment }: Image) => ({ environment: { ...environment, ...propertiesOf(instruction, {}) } }),
  ARG: (instruction: PropertyInstruction, _: Image, { args }: Build) => {
    Object.assign(args, propertiesOf(instruction, {}));
    return {};
  },
  LABEL: (instruction: PropertyInstruction, { labels }: Image, { args }: Build) => ({ labels: { ...labels, ...propertiesOf(instruction, args) } }),
  USER: (instruction: Instruction) => ({ user: idsOf(wordsOf(instruction).join(' ')) }),
  VOLUME: (instruction: Instruction) => ({ volumes: listOf(instruction) }),
  CMD: (instruction: Instruction) => ({ command: listOf(instruction) }),
  STOPSIGNAL: (instruction: Instruction) => ({ stopSignal: only(wordsOf(instruction), /^SIG[A-Z]+$/u) }),
  // Says only which port it is.
  EXPOSE: (instruction: Instruction) => (only(wordsOf(instruction), /^\d+$/u), {}),
};

function stepOf(keyword: string): Step<Instruction> {
  if (!Object.hasOwn(STEPS, keyword)) throw new Error('a step that this reader does not know');
  return STEPS[keyword as keyof typeof STEPS] as Step<Instruction>;
}
