import type { AccessRule } from '../tenancy/access.js';

/** Who may ask for decisions, on whichever road. */
export const DECIDE_ACCESS: AccessRule = { anyOf: ['decide'] };
