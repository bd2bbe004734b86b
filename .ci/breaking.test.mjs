// Of the check for breaking changes itself: `node --test .ci/breaking.test.mjs`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const folder = mkdtempSync(path.join(tmpdir(), 'breaking-'));
let documents = 0;

/** A small document of that version, whose request takes these members and whose problems have these codes. */
function write(version, { required = ['name'], codes = ['A'], paths = ['/things'] } = {}) {
  const body = { type: 'object', required, properties: { name: { type: 'string' }, size: { type: 'integer' } } };
  const answer = { type: 'object', properties: { code: { type: 'string', enum: codes } } };
  const operation = {
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: { 200: { description: 'done', content: { 'application/json': { schema: answer } } } },
  };
  const file = path.join(folder, `${(documents += 1)}.json`);
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info: { title: 'Things', version }, paths: Object.fromEntries(paths.map((name) => [name, { post: operation }])) }));
  return file;
}

function check(older, newer) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['.ci/breaking.mjs', older, newer], { encoding: 'utf8' });
  return { status, told: stdout + stderr };
}

const BROKEN = { required: ['name', 'size'] };

for (const [what, before, after, older, newer, wanted] of [
  ['a break under the same version fails', '1.2.3', '1.2.3', {}, BROKEN, 1],
  ['a break under a higher minor version fails from 1.0 on', '1.2.3', '1.3.0', {}, BROKEN, 1],
  ['a break under a higher major version passes', '1.2.3', '2.0.0', {}, BROKEN, 0],
  ['a break under a higher patch version fails before 1.0', '0.1.0', '0.1.1', {}, BROKEN, 1],
  ['a break under a higher minor version passes before 1.0', '0.1.0', '0.2.0', {}, BROKEN, 0],
  ['a break under a lower version fails', '2.0.0', '1.0.0', {}, BROKEN, 1],
  ['a break after a version that could not tell is told and passes', '1', '0.1.0', {}, BROKEN, 0],
  ['a path that is gone is a break', '1.0.0', '1.1.0', { paths: ['/things', '/others'] }, {}, 1],
  ['what asks for less passes under the same version', '1.0.0', '1.0.0', BROKEN, {}, 0],
  ['a new path passes under the same version', '1.0.0', '1.0.0', {}, { paths: ['/things', '/others'] }, 0],
  ['a new code passes, for readers expect such', '1.0.0', '1.0.0', {}, { codes: ['A', 'B'] }, 0],
  ['the same passes', '1.0.0', '1.0.0', {}, {}, 0],
]) {
  test(what, () => {
    const { status, told } = check(write(before, older), write(after, newer));
    assert.equal(status, wanted, told);
    if (wanted === 1) assert.match(told, /the version does not say so/u);
  });
}
