/** The injection token of the limits that the configuration sets. */
export const LIMITS = Symbol('limits');
