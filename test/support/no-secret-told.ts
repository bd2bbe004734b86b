import { afterAll, expect } from '@jest/globals';
import { leaks } from './secrets.js';

// Of every file of tests: none of the keys, passwords and arguments that it used may stand in any log, failure, metric or history.
afterAll(() => {
  expect(leaks()).toEqual([]);
});
