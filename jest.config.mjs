/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  setupFilesAfterEnv: ['<rootDir>/test/support/no-secret-told.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  // Packages first, then the tests' own files: others are hardly ever asked for.
  moduleFileExtensions: ['js', 'ts', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': ['@swc/jest', {
      jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, transform: { legacyDecorator: true, decoratorMetadata: true }, keepClassNames: true },
      module: { type: 'es6' },
      sourceMaps: 'inline',
    }],
  },
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // Each worker may hold a whole database in memory.
  maxWorkers: 2,
  testTimeout: 180_000,
};
