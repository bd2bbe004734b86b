// What `npm ci` installs is what was reviewed: every entry of the lock file comes from a registry, whichever is set up, and is held
// to a strong digest of its content. An address of its own (git, a tarball, a folder, a mirror) is refused.
import { readFileSync } from 'node:fs';

function faultOf({ integrity = '', resolved, link }) {
  if (link) return 'is a link to a folder';
  if (resolved !== undefined) return `comes from an address of its own, ${resolved}`;
  return /^sha512-[A-Za-z0-9+/]{86}==$/u.test(integrity) ? undefined : 'has no SHA-512 of its content';
}

const { '': _root, ...entries } = JSON.parse(readFileSync(process.argv[2] ?? 'package-lock.json', 'utf8')).packages;
const faults = Object.entries(entries).flatMap(([place, entry]) => (faultOf(entry) === undefined ? [] : [`${place} ${faultOf(entry)}`]));
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`lock file: ${Object.keys(entries).length} entries, each from a registry and held to its digest`);
