import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

const filesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts')).map((file) => path.join(folder, file));
const namesIn = (files: readonly string[]): string[] =>
  [...new Set(files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/INVARIANT \(([^)]+)\)/gu)].map(([, name = '']) => name)))].sort();

describe('what is called an invariant', () => {
  it('is kept in one place and tested under the same name', () => {
    const all = [...filesIn('src'), ...filesIn('test')];
    const tests = all.filter((file) => file.endsWith('.spec.ts') && !file.includes('architecture'));
    const sources = all.filter((file) => file.startsWith('src') && !file.endsWith('.spec.ts') && !file.includes('generated'));
    expect(namesIn(tests)).toEqual(namesIn(sources));
    expect(namesIn(sources).length).toBeGreaterThan(7);
  });
});
