import { applyDecorators } from '@nestjs/common';
import type { ApiHeaderOptions } from '@nestjs/swagger';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/app-error.js';
import { ERRORS } from '../errors/app-error.js';
import { problemType } from '../errors/problem.js';
import { ProblemDto } from './problem.dto.js';

/** A problem response as the document shows it: the codes that the status may carry, and an example. */
export function problemResponse(codes: readonly ErrorCode[]): { description: string; content: Record<string, { schema: { $ref: string }; example: ProblemDto }> } {
  const [first] = codes;
  if (first === undefined) throw new Error('a problem response without a code');
  const { status, title } = ERRORS[first];
  const example = { type: problemType(first), title, status, detail: title, code: first, requestId: 'b1946ac9-2f1c-4c7e-9f0e-8c1d5f2a7a10' };
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
    content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDto) }, example } },
  };
}

export const byStatus = (codes: readonly ErrorCode[]): Map<number, ErrorCode[]> => {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of codes) groups.set(ERRORS[code].status, [...(groups.get(ERRORS[code].status) ?? []), code]);
  return groups;
};

/** The errors that are this operation's own; those that every operation can give are added to the document as a whole. */
export const ApiProblems = (...codes: ErrorCode[]): MethodDecorator =>
  applyDecorators(ApiExtraModels(ProblemDto), ...[...byStatus(codes)].map(([status, own]) => ApiResponse({ status, ...problemResponse(own) })));

export const ETAG_HEADERS = { ETag: { description: 'the state that was read, for `If-Match`', schema: { type: 'string' as const, example: '"17"' } } };

/** Of a decision: the same revision, state and question have the same one. */
export const ANSWER_ETAG_HEADERS = { ETag: { description: 'stands for the revision and the whole question', schema: { type: 'string' as const, example: '"pB2dYFkUo0d6mB9rYkY0bA3pQmPz1c1n0hR8n0T9n1I"' } } };

export const REVISION_HEADERS = { 'X-Toolcrib-Revision': { description: 'the revision after the write, or that the answer was computed from', schema: { type: 'string' as const, example: '17' } } };

export const IF_MATCH: ApiHeaderOptions = { name: 'If-Match', description: 'the `ETag` of your last reading', required: false, schema: { type: 'string', example: '"17"' } };

export const IF_NONE_MATCH: ApiHeaderOptions = { name: 'If-None-Match', description: 'the `ETag`s of answers that you still have', required: false, schema: { type: 'string', example: '"pB2dYFkUo0d6mB9rYkY0bA3pQmPz1c1n0hR8n0T9n1I"' } };
