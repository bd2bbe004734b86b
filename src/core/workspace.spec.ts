import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isInside } from './workspace.js';

describe('a working directory inside a workspace', () => {
  it.each([
    ['/w', '/w'], ['/w/p', '/w'], ['/w/p/', '/w/'], ['/w//p/./q', '/w/p'], ['/w/x/../p', '/w/p'], ['/../w', '/w'], ['/', '/'], ['/any', '/'],
    ['C:\\Work\\App', 'c:\\work'], ['C:/Work/App/', 'C:\\WORK'], ['d:\\a\\..\\b', 'D:\\b'], ['C:\\', 'c:/'], ['/文件/甲', '/文件'],
  ])('%s is inside %s', (cwd, root) => expect(isInside(cwd, ['/never', root])).toBe(true));

  it.each([
    ['/work', '/w'], ['/w/../work', '/w'], ['/w/p/../..', '/w'], ['/W/p', '/w'], ['w/p', '/w'], ['./w', '/w'], ['/w/p', 'w'], ['C:\\Workshop', 'C:\\Work'], ['C:Work', 'C:\\'],
    ['D:\\w', 'C:\\w'], ['\\\\host\\w', '/w'], ['/c/w', 'C:\\w'], ['C:\\w', '/'], ['', '/'], ['/w', ''], ['/w\0/../x', '/w'], ['\\w', '/w'],
  ])('%s is not inside %s', (cwd, root) => expect(isInside(cwd, [root])).toBe(false));

  it('is found by whole segments, whatever dots and slashes stand between', () => {
    const segment = fc.constantFrom('a', 'b', 'ab', '.', '..', '');
    const segments = fc.array(segment, { maxLength: 6 });
    fc.assert(fc.property(segments, segments, (inner, outer) => {
      const resolve = (parts: string[]): string[] => parts.reduce<string[]>((kept, part) => (part === '..' ? kept.slice(0, -1) : part === '' || part === '.' ? kept : [...kept, part]), []);
      const expected = resolve(outer).every((part, i) => resolve(inner)[i] === part);
      expect(isInside(`/${inner.join('/')}`, [`/${outer.join('/')}`])).toBe(expected);
    }), { numRuns: 2_000 });
  });
});
