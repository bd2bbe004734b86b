/** What a model is given of a tool, where no format says how it is written. */
export const DEFINITION_EXAMPLE = {
  name: 'mysql_query',
  description: 'Run one read-only SQL statement.',
  inputSchema: { type: 'object', properties: { sql: { type: 'string' } }, required: ['sql'] },
};

/** A list of definitions: their members are those of the format. */
export const DEFINITIONS = { type: 'array', items: { type: 'object', additionalProperties: true }, example: [DEFINITION_EXAMPLE] } as const;
