import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const SIZES = {
  complexity: ['error', 10],
  'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
};

export default tseslint.config(
  { ignores: ['dist/', 'dist-bench/', 'dist-examples/', 'examples/toolcrib-api.d.ts', 'src/platform/database/generated/', 'node_modules/', 'coverage/', '**/*.mjs', '**/*.cjs'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: ['./tsconfig.json', './examples/tsconfig.json'], tsconfigRootDir: import.meta.dirname } },
    rules: {
      ...SIZES,
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidOperator: true }],
      // DTO classes are shapes for the document; their instances are plain objects.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Modules and controllers are classes by the framework's design.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/core/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [{ regex: '^[^.]', message: 'the core imports itself alone' }, { regex: '^\\.\\./', message: 'the core imports itself alone' }] }],
      'no-restricted-globals': ['error', 'Date', 'process', 'console', 'setTimeout', 'fetch'],
      'no-restricted-properties': ['error', { object: 'Math', property: 'random', message: 'the core is deterministic' }],
    },
  },
  {
    files: ['src/core/formats/*.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex: '^[^.]', message: 'the core imports itself alone' }, { regex: '^\\.\\./\\.\\./', message: 'the core imports itself alone' }] }] },
  },
  {
    files: ['test/**/*.ts', 'src/**/*.spec.ts'],
    rules: {
      // Tests read answers as their callers do: as JSON of any shape.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      'max-lines-per-function': 'off',
      complexity: ['error', 20],
    },
  },
);
