/** Whether a working directory is inside a workspace: text alone, whole segments, fail closed (semantics, section 3). */

interface AbsolutePath {
  /** `/`, or a drive such as `c:`. Paths of two kinds, or of two drives, never contain each other. */
  readonly root: string;
  readonly segments: readonly string[];
}

const WINDOWS = /^[A-Za-z]:[\\/]/u;

/** Normalised as text; null for what is not absolute (relative, UNC, `C:foo`). */
function parsePath(path: string): AbsolutePath | null {
  if (path.includes('\0')) return null;
  if (path.startsWith('/')) return { root: '/', segments: resolveDots(path.split('/')) };
  if (!WINDOWS.test(path)) return null;
  const folded = path.toLowerCase();
  return { root: folded.slice(0, 2), segments: resolveDots(folded.slice(3).split(/[\\/]/u)) };
}

/** `..` at the root stays there. */
function resolveDots(parts: readonly string[]): string[] {
  const segments: string[] = [];
  for (const part of parts) {
    if (part === '..') segments.pop();
    else if (part !== '' && part !== '.') segments.push(part);
  }
  return segments;
}

export function isInside(cwd: string, roots: readonly string[]): boolean {
  const inner = parsePath(cwd);
  if (inner === null) return false;
  return roots.some((root) => {
    const outer = parsePath(root);
    return outer?.root === inner.root && outer.segments.every((segment, i) => segment === inner.segments[i]);
  });
}
