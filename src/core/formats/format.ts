/** Whom definitions are written for, and how many of them each takes. */

export const FORMATS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'mcp', 'envelope'] as const;
export type Format = (typeof FORMATS)[number];

/** How many definitions a provider takes, the loaders' own included; null = any number. */
const LIMITS: Readonly<Record<Format, number | null>> = { 'openai-chat': 128, 'openai-responses': 128, anthropic: null, gemini: 512, mcp: null, envelope: null };

export const definitionLimit = (format: Format): number | null => LIMITS[format];

/** What every provider takes as the name of a tool. */
export const PROVIDER_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/u;
