// Every package that the image runs has a licence that we may ship under. Reads the bill of materials from standard input.
import { readFileSync } from 'node:fs';
import satisfies from 'spdx-satisfies';

/** The one list. All are permissive; another one is a decision, not a formality. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Python-2.0'];

const isAllowed = (expression) => {
  try {
    return satisfies(expression, ALLOWED);
  } catch {
    return false; // not a licence that SPDX knows
  }
};

const { components } = JSON.parse(readFileSync(0, 'utf8'));
const licencesOf = ({ licenses = [] }) => licenses.map(({ expression, license }) => expression ?? license.id ?? license.name);
const strays = components.filter((component) => licencesOf(component).length === 0 || !licencesOf(component).every(isAllowed));
for (const stray of strays) console.error(`${stray.name}@${stray.version} has the licence ${licencesOf(stray).join(', ') || 'of nobody'}, which .ci/licences.mjs does not allow`);
if (strays.length > 0) process.exit(1);
console.log(`licences: ${components.length} packages, all allowed`);
